"""What the words of a name mean together: whole names, and rules; data only, read by :mod:`.names`."""

from __future__ import annotations

#: Whole names, after :func:`.names.words`, that their words would not give away.
PHRASES: dict[str, str] = {
    "official": (
        "securite sociale|mrn|nhs|nhs number|nhsno|ssn|sin|nino|national insurance number|social security|"
        "social security number|ni number|nir|insee|numero securite sociale|num secu|n secu|bsn|"
        "burgerservicenummer|dni|nie|nif|nss|cpf|nis|cns|codice fiscale|cf|sozialversicherungsnummer|"
        "svnr|sv nummer|rvnr|ahv|ahv nr|ahv nummer|steuer id|steueridentifikationsnummer|tax id|tin|"
        "passport|passport number|passport no|personnummer|cpr|chi|chi number|hospital number|"
        "hospital no|medical record number|medical record no|medical record|health number|"
        "health card number|medicare number|medicaid id|medicare id|hic number|hicn|mbi|empi|mpi|upn|"
        "unique pupil number|uci|uln|kvnr|krankenversichertennummer|versichertennummer|versicherungsnummer|"
        "personalnummer|personalnr|matrikelnummer|matrikelnr|matrikel|license number|licence number|"
        "driver license|driving licence|drivers license number|voter id|national id|nationalid|id card|"
        "id number national|identity number|bene id|desynpuf id|deid pat id|eid|emirates id|aadhaar|"
        "aadhar|pan number|curp|rut|cedula|cpf cnpj|mykad|nric|hkid|tckn|pesel|egn|cnp|oib|jmbg|"
        "rodne cislo|hn|an hn|dossiernummer|patnr|patientnr"
    ),
    "id": (
        "id|uid|pid|guid|uuid|ident|identifier|key|code id|idnr|idno|id no|id number|idpers|idind|"
        "iid|fid iid|rid|sid|cid|mid|eid|xid|ids|kennung|identifiant|identificador|identificativo|"
        "unique id|unique identifier|uniqueid|fallnummer|fall nr|fallnr|fall id|seqn|serial number|"
        "pseudonym|pseudo id|pseudonym id|hash|hash id|hashed id|anon id|alias|screening number|"
        "screening no|randomisation number|randomization number|rand no|subject key|usubjid|subjid|"
        "subjectkey|pidp|pseudoid|nk id|linkage key|link id|dossier|dossier number|akte nr|aktennummer"
    ),
    "record": (
        "record|record id|record number|record no|record key|study|study id|study number|study no|case|"
        "case id|caseid|case number|case no"
    ),
    "row": (
        "unnamed|unnamed 0|unnamed 1|unnamed 2|row|row id|row number|row no|index|idx|level 0|line|"
        "line number|obs|n|nr|no|number|num|lfd nr|lfdnr|laufende nummer|rownames|rn|row names|"
        "sequence|seq|serial|order|position"
    ),
    "diagnosis": "cid 10|cid10|cid code",
    "phone": "contact number|contact no|cell phone|cellphone|cell number|cell no",
    "postcode": "cp|cap|cep|pc|post code",
    "name": "full name|legal name|display name|complete name|nombre completo|nom complet|nome completo",
}

#: What the words of a name mean, first match first: ``meaning: words needed [| other words]`` and marks. The marks are
#: ``known`` (others may know it of a person; the figure is how telling it is, 9 most), ``secret``, a kind (``date``,
#: ``part`` of one, ``code``, ``number``, ``category``, ``text``), ``low..high`` for bounds, and ``choose`` where these
#: bounds are only a round proposal.
RULES = """
free text: note | of note                              text
birth year: birth year | yob | birth years             known9 part
birth month: birth month                               known9 part
birth country: birth country | birth city | birth state | birth county | birth region | origin   known5 category
birth weight: birth weight                             number
birth order: birth order                               number
birth date: dob | birth | birth date | birth time | birth day  known9 date
death date: death date | death time | death year       known4 date
cost: drug money | treatment money | health money | visit money | diabetes money | diagnosis money   number 0..10000 choose
count of children: children | count student | number children  known5 number 0..10
family size: household size | family size | household count | family count | household number size | count person | count member | size  known5 number 0..15
count of visits: count visit | visits | count admission | count encounter | count claim | count event | count transaction  number 0..50 choose
count: count | quantity                                number
percent: percent                                       number 0..100
proportion: proportion                                 number 0..1
rate: rate                                             number
income: income household | income family | income      secret number 0..100000 choose
debt: debt | debt money                                secret number 0..100000 choose
welfare: welfare                                       secret category
money: money                                           number 0..10000 choose
hours a week: hours week                               number 0..100
hours a day: hours day | hours days                    number 0..24
length of stay: days | length encounter  number 0..365 choose
years of education: education years | education year   known4 number 0..25
age: age | age years | age months                      known9 number 0..110
hours: hours                                           number 0..100 choose
minutes: minutes                                       number 0..1440 choose
seconds: seconds                                       number
weeks: weeks                                           number 0..52 choose
months: months                                         number 0..120 choose
years: years                                           number 0..60 choose
created: created                                       date
admission date: admission date | admission time        known4 date
discharge date: discharge date | discharge time | discharge  known4 date
diagnosis date: diagnosis date | treatment date | drug date | result date  known3 date
date: visit date | encounter date | event date | crime date | enrolment date | enrolment time | enrolment | date  known3 date
time: time                                             date
year: year                                             part
month: month                                           part
day: day                                               part
week: week                                             part
quarter: quarter                                       part
sampling weight: sampling                              number
hiv: hiv                                               secret category
cancer: cancer                                         secret category
substance use: substance                               secret category
pregnancy: pregnancy                                   secret category
disability: disability                                 secret category
sexual orientation: orientation | sex orientation      secret category
politics: politics                                     secret category
crime: crime                                           secret category
diagnosis: diagnosis                                   secret code
disease: diabetes                                      secret category
medication: drug                                       secret category
treatment: treatment                                   secret category
death: death                                           secret category
lab value: lab | lab result                            secret number
test result: result                                    secret category
blood pressure: systolic | diastolic                   secret number 0..300
heart rate: heart                                      secret number 0..250
body mass index: bmi                                   number 0..80
health: health                                         secret category
performance: performance                               secret category
grade: grade                                           secret category
rating: rating                                         number 0..10 choose
score: score                                           number 0..100 choose
postcode: postcode                                     known8 code
sex: sex                                               known9 category
race: race                                             known6 category
religion: religion                                     known5 category
nationality: nationality                               known5 category
language: language                                     known4 category
marital status: marital                                known5 category
education: education                                   known4 category
occupation: occupation                                 known5 category
employer: employer                                     known4 category
insurance: insurance                                   known2 category
housing: housing                                       known2 category
military service: military                             known3 category
location: location                                     known7 number
city: city                                             known7 category
county: county                                         known7 category
region: region                                         known6 category
state: state                                           known6 category
country: country                                       known5 category
ward: ward                                             known3 category
department: department                                 known3 category
hospital: hospital                                     known3 category
school: school                                         known3 category
site: site                                             known3 category
height: height                                         number
weight: weight                                         number
temperature: temperature                               number
type: type                                             category
group: group                                           category
status: status                                         category
level: level                                           category
question: question                                     category
"""  # fmt: skip # noqa: E501
