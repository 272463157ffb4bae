"""What the name of a column says: any spelling, English and the commonest words of six other languages.

>>> words("Patienten-Nr."), words("YearOfBirth"), words("N° patient")
(('patienten', 'nr'), ('year', 'of', 'birth'), ('number', 'patient'))
>>> meaning("Patienten-Nr.").word, meaning("dateOfBirth").word, meaning("ICD-10").word
('person', 'birth date', 'diagnosis')
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache

# -- words -------------------------------------------------------------------------------------------------------------
#
# English in full; of German, French, Spanish, Italian, Dutch and Portuguese the commonest. Everything is written in
# small letters without accents, as :func:`words` makes it. A word on the left stands for all spellings on its
# right.

#: One word of ours for each way of writing it. The word itself is always one of its spellings.
SPELLINGS: dict[str, str] = {
    # What makes a name the name of an identifier.
    "id": (
        "ids ident identifier identifiant identificador identificatore identificativo identifikation kennung "
        "kennzeichen kennziffer uuid guid oid pk"
    ),
    "number": "no nr num numero nummer nro nbr nb numb matricule matricula matricola",
    "code": "cd cod codigo codice kode codes schluessel schlussel",
    "key": "sk clave cle chiave sleutel chave token",
    "hash": "hashed sha sha256 md5 encrypted enc anonymised anonymized anon scrambled masked deidentified deid",
    "pseudonym": "pseudo pseudonymised pseudonymized pseudonyme pseudoid pseudonymisiert alias",
    "unique": "eindeutig eindeutige unico internal primary master global universal local national system",
    # People.
    "patient": "patienten patiente paciente pacient paziente patientin pat pt patientennr pnt inpatient outpatient",
    "person": "personen persona personne pessoa persoon pers individual individuo individu indiv human",
    "subject": "subj sujet sujeto soggetto proband probanden probandin versuchsperson vp testperson",
    "participant": "participants participante partecipante teilnehmer teilnehmerin deelnemer ptcpt partic panelist",
    "respondent": "respondents repondant encuestado befragter befragte befragten rispondente informant interviewee",
    "beneficiary": (
        "bene benef beneficiario beneficiaire beneficiaria enrollee recipient claimant insured insuree "
        "versicherter versicherte versicherten asegurado assure assicurato verzekerde segurado policyholder "
        "empfaenger"
    ),
    "member": "mbr memb mitglied mitglieds membre miembro membro socio subscriber abonnent abonne",
    "customer": (
        "cust custmer kunde kunden kundin cliente client klant klanten clients consumer shopper buyer purchaser "
        "guest passenger cardholder borrower debtor lender donor payer taxpayer tenant renter mieter policyowner"
    ),
    "user": (
        "usr benutzer nutzer utilisateur usuario utente gebruiker utilizador username login userid player gamer "
        "author respondant follower profile visitor"
    ),
    "employee": (
        "emp empl mitarbeiter mitarbeiterin angestellter empleado employe salarie dipendente impiegato werknemer "
        "medewerker funcionario empregado worker personal staff personnel beschaeftigter"
    ),
    "student": (
        "stud students studierender schueler schuler schuelerin eleve etudiant estudiante alumno studente alunno "
        "aluno estudante leerling pupil learner scholar child infant baby newborn twin"
    ),
    "citizen": (
        "resident inhabitant buerger citoyen ciudadano cittadino burger cidadao voter elector applicant candidate "
        "bewerber offender defendant suspect victim prisoner inmate detainee arrestee convict refugee volunteer "
        "athlete"
    ),
    # People who look after the person, or sell to them.
    "doctor": (
        "dr physician arzt medico medecin docteur clinician surgeon practitioner gp therapist nurse provider "
        "prescriber carer caregiver consultant attending referring psychiatrist dentist midwife pharmacist npi "
        "arts"
    ),
    "teacher": "lehrer lehrerin enseignant profesor professor insegnante docent instructor tutor trainer coach",
    "interviewer": (
        "rater observer investigator operator technician coder assessor reviewer approver inspector examiner"
    ),
    "seller": (
        "salesperson salesman salesrep verkaeufer vendeur vendedor venditore agent broker merchant vendor supplier "
        "lieferant manager supervisor boss chef assignee officer cashier rep mother father parent guardian sponsor"
    ),
    # Who may be protected together.
    "household": (
        "hh hhold hhld haushalt haushalts menage foyer hogar hogares huishouden domicilio dwelling apartment flat "
        "domestic"
    ),
    "family": "fam familie familien famille familia famiglia gezin families",
    "couple": "dyad",
    "address": (
        "addr adresse adress direccion indirizzo adres endereco anschrift street strasse rue calle via straat rua "
        "hausnummer"
    ),
    # Things, places and happenings that are not people.
    "order": "orders bestell bestellung auftrag auftrags commande pedido ordine bestelling encomenda purchase",
    "invoice": "inv rechnung rechnungs facture factura fattura factuur fatura bill receipt bon beleg",
    "visit": "besuch besuchs visite visita bezoek consultation consult appointment appt termin cita",
    "encounter": "episode spell stay hadm csn fin contact hospitalization hospitalisation",
    "admission": "aufnahme admit admitted admited admisssion ingreso ricovero opname internamento",
    "claim": "claims schaden sinistre siniestro reclamo",
    "transaction": (
        "transactions txn trx trans transaktion transaccion transazione transactie transacao payment zahlung "
        "paiement pago pagamento betaling transfer"
    ),
    "row": (
        "rows zeile zeilen ligne fila riga rij linha line obs observation index idx indice rownum rowid rowno lfd "
        "laufende seq sequence serial"
    ),
    "event": "events ereignis evenement evento gebeurtenis incident accident alert alarm",
    "product": "products produkt produit producto prodotto produto item article artikel sku asin upc ean isbn goods",
    "device": (
        "devices geraet gerat appareil dispositivo apparaat machine sensor imei mac ip cookie browser meter "
        "vehicle car vin plate camera"
    ),
    "document": (
        "doc file filename page url link image photo report message msg tweet thread ticket session trip flight "
        "booking reservation buchung ride journey form questionnaire"
    ),
    "sample": "specimen aliquot tube barcode lot batch swab biopsy accession run",
    "contract": "vertrag contrat contrato contratto policy police poliza polizza loan",
    "cluster": "psu strata stratum block plot arm cohort wave round panel trial protocol project team campaign",
    "company": "firm firma societe empresa azienda bedrijf organisation organization org business brand chain",
    "store": "stores shop branch filiale magasin tienda negozio winkel loja outlet warehouse terminal",
    # What people know of each other.
    "birth": (
        "born geburt geburts geboren gebdat geb naissance naiss ne nacimiento nac nascita nascimento geboorte "
        "birthday birthdate dateofbirth urodzenia fodsel"
    ),
    "dob": (
        "bday gebdatum geburtstag geburtsdatum geboortedatum datenaissance ddn fechanacimiento fnac datanascita dtnasc "
        "fodselsdato fodselsdag foedelsedatum birthdt dtbirth"
    ),
    "yob": "jahrgang foedelsear fodelsear fodselsar geburtsjahr gebjahr geboortejahr byear birthyr yrbirth yearbirth",
    "age": "alter ages edad eta leeftijd idade lebensalter ageyears agegroup ageband altersgruppe agegrp agecat",
    "sex": (
        "gender geschlecht sexe sexo sesso geslacht genero genre genere gendr female male femme homme weiblich "
        "maennlich koen kjonn kon plec frau woman man women men sexcode"
    ),
    "postcode": (
        "zip zipcode zcta zip5 zip3 plz postleitzahl postal postalcode codepostal postcodes pcd pcds eircode "
        "pincode postnr postnummer codigopostal"
    ),
    "city": (
        "town stadt ort wohnort ville ciudad citta stad cidade municipality municipio gemeinde commune comune "
        "gemeente kommun kommune gmina village suburb locality lieu localidad plaats borough place residence"
    ),
    "county": (
        "landkreis kreis departement provincia province provincie district distrito bezirk canton kanton concelho "
        "laen lan fylke powiat parish lsoa msoa oa fips tract puma nuts"
    ),
    "region": "regions regione regio regiao area zone territory gebiet metro urban rural continent",
    "state": "bundesland estado stato staat states",
    "country": "land pais paese countries ctry iso3 iso2 nation pays",
    "origin": "native herkunft origine origen herkomst origem immigrant migration",
    "location": "lat latitude lon lng long longitude gps coordinates geo geohash geom breitengrad laengengrad",
    "race": (
        "ethnicity ethnic ethnie etnia raza razza raca ras black white hispanic latino asian caucasian ethnicgroup "
        "ancestry caste tribe aboriginal indigenous"
    ),
    "religion": "relig faith denomination konfession church kirche religiao religione godsdienst",
    "nationality": (
        "nationalitaet nationalitat staatsangehoerigkeit nationalite nacionalidad nazionalita nationaliteit "
        "nacionalidade citizenship citizenshp"
    ),
    "language": "lang sprache muttersprache langue idioma lingua taal lengua tongue",
    "marital": (
        "married familienstand civil burgerlijke spouse relationship wed divorced widowed maritalstatus marstat "
        "verheiratet"
    ),
    "education": (
        "educ edu bildung bildungs bildungsabschluss schulabschluss abschluss diplome etudes educacion istruzione "
        "opleiding escolaridade degree qualification schooling schoolyears edlevel"
    ),
    "occupation": (
        "occup job beruf berufs profession metier profesion ocupacion professione beroep profissao ocupacao "
        "jobtitle employment employed work workclass unemployed trabajo lavoro retired industry sector branche soc "
        "naics"
    ),
    "employer": "arbeitgeber employeur empleador datore werkgever empregador",
    "department": (
        "dept dep abteilung departamento dipartimento afdeling division unit section fachabteilung specialty "
        "speciality fachrichtung"
    ),
    "ward": "station bed room zimmer",
    "site": "centre center zentrum standort sites studiensite",
    "hospital": (
        "krankenhaus klinik clinic hopital clinique ospedale clinica ziekenhuis facility practice praxis hosp "
        "trust pharmacy einrichtung"
    ),
    "school": (
        "schule ecole escuela scuola escola college university universitaet universite universidad universita "
        "klasse classroom course kurs campus faculty"
    ),
    "children": (
        "kinder enfants hijos figli kinderen filhos kids dependents dependants siblings sibsp parch nchild parity"
    ),
    "size": "tamano members",
    "insurance": (
        "insurer versicherung krankenkasse kasse assurance seguro assicurazione verzekering payor plan coverage "
        "medicaid hmo"
    ),
    "housing": "tenure homeowner ownership wohnform home house",
    "military": "veteran army wehrdienst",
    # What people keep to themselves.
    "diagnosis": (
        "cie cim"
        " diagnose diagnosen diagnostic diagnostico diagnosi diag dx icd icd9 icd10 icd11 diseases disease "
        "krankheit maladie enfermedad malattia ziekte doenca illness disorder condition comorbidity comorbidities "
        "morbidity symptom symptoms complaint snomed drg injury infection chronic dsm"
    ),
    "hiv": "aids std sti hepatitis covid covid19 tuberculosis syphilis",
    "cancer": "tumor tumour krebs cancro kanker oncology malignant metastasis leukemia",
    "diabetes": (
        "diabetic hypertension asthma stroke depression anxiety depressed schizophrenia dementia psychiatric "
        "mental suicide suicidal selfharm phq gad"
    ),
    "result": (
        "results befund ergebnis resultat resultado risultato uitslag outcome finding findings positive biomarker "
        "genotype gene mutation variant snp"
    ),
    "treatment": (
        "treat treated behandlung traitement tratamiento trattamento behandeling tratamento therapy therapie "
        "procedure surgery operation ops cpt intervention"
    ),
    "drug": (
        "drugs medication medications medicine meds medikament medikation medicament medicamento farmaco "
        "geneesmiddel atc ndc prescription rx rezept vaccine vaccinated vaccination opioid"
    ),
    "disability": (
        "disabled behinderung handicap discapacidad disabilita invalidita limitation limits impairment handicapped sen"
    ),
    "pregnancy": (
        "pregnant schwanger schwangerschaft enceinte grossesse embarazo gravidanza gravida zwanger abortion "
        "miscarriage contraception"
    ),
    "orientation": "lgbt lgbtq gay transgender sexuality homosexual affairs",
    "politics": "political party partei parti partido partito partij voted vote ideology gewerkschaft",
    "crime": (
        "criminal offence offense arrest arrested conviction recidivism recidivist recid straftat delit delito "
        "reato sentence jail prison juvenile violation"
    ),
    "substance": (
        "smoker smoking smoke smokes tobacco raucher alcohol alkohol drinking drinker cannabis cocaine fumeur "
        "fumador addiction"
    ),
    "death": (
        "dead died deceased mortality verstorben gestorben tod deces decede fallecido muerte morte overleden obito "
        "survived survival vital"
    ),
    "health": "gesundheit sante salud salute gezondheid saude healthy",
    "grade": "grades noten gpa mark marks nota voto cijfer  passed failed",
    "income": (
        "inkomst inntekt indkomst loen lonn bruttolohn "
        "einkommen revenu ingresos reddito inkomen rendimento renda salary gehalt salaire salario stipendio "
        "salaris wage wages lohn earnings earn pay payrate remuneration compensation bonus pension wealth assets"
    ),
    "debt": (
        "schulden dette deuda debito schuld divida mortgage default defaulted credit arrears "
        "delinquent bankruptcy foreclosure"
    ),
    "welfare": "sozialhilfe hartz snap foodstamps benefit benefits poverty fsm unemployment",
    "performance": "appraisal leistung attrition churn fired terminated disciplinary",
    # Amounts.
    "money": (
        "amount amt betrag montant importe importo bedrag valor cost costs kosten cout coste costo custo charge "
        "charges price preis prix precio prezzo prijs preco fee fees fare tarif spend spending spent expenditure "
        "expense expenses ausgaben depense depenses gasto gastos spesa uitgaven paid balance saldo solde revenue "
        "umsatz sales turnover profit gain loss deposit tax steuer tip discount rent miete loyer eur euro euros "
        "usd dollars dollar gbp chf copay deductible reimbursement allowed donation budget premium subtotal total"
    ),
    "percent": "pct perc percentage prozent pourcentage porcentaje percentuale procent percentagem",
    "proportion": "probability prob share fraction anteil probabilite",
    "rate": "ratio quote taux tasa tasso",
    "score": "scores punkte punktzahl points puntuacion punteggio scale iq skala likert",
    "rating": "stars star bewertung avis satisfaction nps stelle",
    "count": (
        "cnt counts anzahl anz nombre cantidad conteggio aantal contagem quantidade freq frequency haeufigkeit times"
    ),
    "quantity": "qty menge quantite quantita hoeveelheid units stueck pieces",
    "hours": "hour hrs stunden heures horas ore uren",
    "minutes": "minute mins min minuten minuti minutos duration dauer duree duracion durata duur",
    "seconds": "secs sec sekunden ms milliseconds",
    "days": "tage jours dias giorni dagen los verweildauer liegedauer liegetage",
    "weeks": "wochen semaines semanas settimane weken",
    "months": "monate mois meses mesi maanden",
    "years": "jahre ans annees anos anni jaren yrs",
    "visits": (
        "admissions besuche visites visitas bezoeken consultations appointments encounters attendances contacts "
        "hospitalizations readmissions referrals clicks logins sessions purchases trips calls bookings"
    ),
    "height": "groesse koerpergroesse taille altura altezza lengte stature",
    "weight": "gewicht koerpergewicht poids peso bodyweight birthweight",
    "bmi": "imc",
    "systolic": "sbp sysbp trestbps bpsys",
    "diastolic": "dbp diabp bpdia",
    "heart": "heartrate pulse puls hr bpm thalach",
    "temperature": "temp temperatur",
    "lab": (
        "glucose cholesterol chol hba1c creatinine hemoglobin haemoglobin ldl hdl triglycerides crp psa labvalue "
        "blood insulin bilirubin albumin platelets wbc rbc sodium potassium pressure"
    ),
    "sampling": "sampwt fnlwgt wgt wt weights iweight pweight svywt",
    # Times.
    "date": "datum fecha dt datetime dato dates data",
    "time": "timestamp zeit uhrzeit heure hora ora tijd ts clock",
    "year": "yr jahr annee ano anno jaar rok ar",
    "month": "monat",
    "day": "tag jour dia giorno dag weekday wochentag dow",
    "week": "woche semaine semana settimana wk",
    "quarter": "quartal trimestre semester term",
    "discharge": "discharged entlassung entlass sortie alta dimissione ontslag disch",
    "enrolment": (
        "enrollment enrolled enrol enroll recruitment einschluss inclusion registration registered join joined "
        "hire hired start begin einstellung entry eintritt graduation graduated arrival departure exit end leave "
        "baseline followup onset"
    ),
    "created": "updated modified loaded imported extracted inserted deleted changed erstellt geaendert export",
    # Names and how to reach somebody.
    "name": "names nom nome naam namen fullname vollname nombres bezeichnung label denominazione",
    "forename": "vorname prenom firstname forename fname givenname voornaam primeiro",
    "surname": "nachname surname lastname lname familienname apellido apellidos cognome achternaam sobrenome sname",
    "first": "given middle",
    "last": "maiden",
    "email": "mail emailaddress courriel correo posta mailadresse",
    "phone": (
        "tel telephone telefon telefono telefone telefoon telephon mobile handy fax portable msisdn imsi gsm movil "
        "movel mobiel mobil celular cellulare tlf tlfn fon phoneno handynr mobilnr"
    ),
    "card": "iban creditcard pan",
    "account": "acct accts acc accountid konto compte cuenta conto rekening conta bankaccount",
    # Groupings and words about the shape of a column.
    "type": "typ tipo art soort class category cat kategorie categorie categoria subcategory",
    "group": "grp gruppe groupe grupo gruppo groep segment band bracket bin bucket tier",
    "status": "stat zustand etat flag is has ind indicator yn",
    "level": "niveau nivel livello stufe stage severity schweregrad rank rang priority",
    "question": "q frage answer antwort response",
    "note": (
        "notes comment comments remark remarks kommentar bemerkung bemerkungen commentaire commentaires "
        "observaciones comentario comentarios commento osservazioni opmerking opmerkingen description beschreibung "
        "descripcion descrizione omschrijving text txt freetext narrative anamnese anamnesis summary body abstract "
        "memo letter feedback bio statement transcript story history"
    ),
    "case": "cases fall falls cas caso geval",
    "record": "records rec datensatz enregistrement registro dossier akte charts chart",
    "study": "studien studie etude estudio studio redcap crf screening randomisation randomization rand",
    "null": "unnamed column col field var variable spalte feature",
    # Small words.
    "of": (
        "de del della di do da du des der die das den van von the a an la le les el in im for fuer pour por per "
        "par pro und and et e zu zur zum en with mit brutto netto bruto neto"
    ),
}

PEOPLE = frozenset(
    {
        "patient",
        "person",
        "subject",
        "participant",
        "respondent",
        "beneficiary",
        "member",
        "customer",
        "user",
        "employee",
        "student",
        "citizen",
    }
)
STAFF = frozenset({"doctor", "teacher", "interviewer", "seller"})
UNITS = frozenset({"household", "family", "couple", "address"})
THINGS = frozenset(
    {
        "order",
        "invoice",
        "visit",
        "encounter",
        "admission",
        "claim",
        "transaction",
        "row",
        "event",
        "product",
        "device",
        "document",
        "sample",
        "contract",
        "cluster",
        "company",
        "store",
    }
)
IDS = frozenset({"id", "number", "code", "key", "hash", "pseudonym"})
#: Words that say nothing by themselves.
FILLERS = frozenset({"of", "unique"})


# -- phrases and rules -------------------------------------------------------------------------------------------------

#: Whole names, after :func:`words`, that their words would not give away.
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


class NameKind(StrEnum):
    """What sort of thing a name speaks of."""

    PERSON = "person"  # whose row it is
    ID = "id"  # an identifier that does not say of what: id, record id
    CONTACT = "contact"  # an e-mail address, a telephone number
    NAME = "name"
    PART_OF_NAME = "part of a name"
    UNIT = "unit"  # a household, an address
    STAFF = "staff"  # somebody else: the doctor, the teacher, the seller
    DEVICE = "device"  # a telephone, a car: somebody's, where nothing says whose
    THING = "thing"  # an order, a visit, a product
    UNNAMED_ID = "unnamed id"  # an identifier of something we have no word for
    DATE = "date"
    PART = "part of a date"  # a year, a month: never an amount
    CODE = "code"
    CATEGORY = "category"
    NUMBER = "number"
    TEXT = "text"


@dataclass(frozen=True)
class Meaning:
    """What a name says. ``known`` is how telling it is about a person to those who know them, 0 for not at all."""

    word: str
    kind: NameKind
    known: int = 0
    secret: bool = False
    bounds: tuple[float, float] | None = None
    choose: bool = False  # the bounds are only a round proposal
    rank: int = 0  # how surely it names the person whose row it is
    bare: bool = False  # may be a category: "member" yes or no, "study" one of three


_SIGNS = {"n°": " number ", "n.º": " number ", "nº": " number ", "№": " number ", "#": " number ", "%": " percent ",
          "€": " euro ", "$": " dollar ", "£": " gbp ", "ä": "ae", "ö": "oe", "ü": "ue",
          "ß": "ss", "ø": "o", "æ": "ae", "ł": "l"}  # fmt: skip
_CAMEL = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
#: D.O.B., N H S: letters apart that are one word.
_INITIALS = re.compile(r"(?<![^\W_])[^\W\d_](?:[ ._-]+[^\W\d_](?![^\W_]))+")
#: Letters that German, Dutch and others put between the parts of a compound.
_LINKS = ("", "s", "n", "en", "es")
_SHORTEST_PART = 3
#: How surely each word names the person, where there are several.
_RANKS = {"patient": 50, "subject": 50, "participant": 50, "respondent": 50, "person": 50, "beneficiary": 48,
          "citizen": 47, "student": 46, "member": 45, "customer": 45, "user": 44, "employee": 40}  # fmt: skip
_OFFICIAL, _SUBJECT, _ID, _ACCOUNT, _CONTACT, _NAME, _DEVICE, _STAFF = 49, 40, 30, 26, 25, 20, 15, 10

#: A telephone number or an e-mail address, whatever its column is called. "Mobile" may also be yes or no.
CONTACT = Meaning("phone", NameKind.CONTACT, rank=_CONTACT, bare=True)


@cache
def _vocabulary() -> dict[str, str]:
    """Each spelling and the word it stands for."""
    return {spelling: word for word, spellings in SPELLINGS.items() for spelling in (word, *spellings.split())}


@cache
def _phrases() -> dict[str, str]:
    """Whole names, with and without blanks, and what they are."""
    found: dict[str, str] = {}
    for what, names in PHRASES.items():
        for name in names.split("|"):
            found.setdefault(name, what)
            found.setdefault(name.replace(" ", ""), what)
    return found


@cache
def _rules() -> tuple[tuple[frozenset[str], Meaning], ...]:
    made = []
    for line in RULES.strip().splitlines():
        word, _, rest = line.partition(":")
        needed, *marks = re.split(r"\s{2,}", rest.strip())
        made += [
            (frozenset(alternative.split()), _rule_meaning(word, " ".join(marks))) for alternative in needed.split("|")
        ]
    return tuple(made)


def _rule_meaning(word: str, marks: str) -> Meaning:
    made = Meaning(word, NameKind.CATEGORY)
    for mark in marks.split():
        if mark.startswith("known"):
            made = replace(made, known=int(mark[5:]))
        elif ".." in mark:
            low, high = map(float, mark.split(".."))
            made = replace(made, bounds=(low, high))
        elif mark == "secret":
            made = replace(made, secret=True)
        elif mark == "choose":
            made = replace(made, choose=True)
        else:
            made = replace(made, kind=NameKind("part of a date" if mark == "part" else mark))
    return made


def words(name: str) -> tuple[str, ...]:
    """The words of a name in small letters without accents; compounds we know are taken apart.

    >>> words("PATIENT_ID") == words("Patient ID") == words("PatientID") == words("patientid")
    True
    """
    text = name
    for sign, word in _SIGNS.items():
        text = re.sub(re.escape(sign), word, text, flags=re.IGNORECASE)
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    found: list[str] = []
    plain = _INITIALS.sub(lambda found: re.sub(r"[\W_]+", "", found[0]), plain)
    for chunk in re.split(r"[\W_]+", plain):
        if chunk.lower() in _vocabulary():
            found.append(chunk.lower())
        else:
            for part in _CAMEL.findall(chunk):
                found += _split_compound(part.lower())
    return tuple(found)


@cache
def _split_compound(word: str) -> tuple[str, ...]:
    """A word we do not know as the words it is made of, where we know all of them: geburtsdatum, custid, hhid."""
    known = _vocabulary()
    if word in known or len(word) < 2 * _SHORTEST_PART - 2:
        return (word,)
    for end in range(len(word) - 2, 1, -1):
        head, tail = word[:end], word[end:]
        base = next((head.removesuffix(link) for link in _LINKS if _is_compound_part(head.removesuffix(link))), None)
        if base is None or (not head.endswith(base) and len(base) < _SHORTEST_PART):
            continue
        rest = _split_compound(tail)
        if all(_is_compound_part(part) or part in ("id", "nr", "no") for part in rest):
            return (base, *rest)
    return (word,)


def _is_compound_part(word: str) -> bool:
    """Whether a piece of a compound may be this: short words stand in too many others."""
    return word in _vocabulary() and (len(word) >= _SHORTEST_PART or word == "hh")


def meaning(name: str) -> Meaning | None:
    """What the name of a column says it is, or None.

    >>> meaning("customer_id").kind, meaning("customer_segment").kind, meaning("order_id").kind
    (<NameKind.PERSON: 'person'>, <NameKind.CATEGORY: 'category'>, <NameKind.THING: 'thing'>)
    >>> meaning("Alter").bounds, meaning("number of visits").word, meaning("zqx")
    ((0.0, 110.0), 'count of visits', None)
    """
    spelled = words(name)
    if not spelled:
        return Meaning("row", NameKind.THING) if not name.strip() else None
    phrase = _phrases().get(" ".join(spelled))
    if phrase is not None:
        return _of_phrase(phrase)
    rest = [word for word in spelled if _vocabulary().get(word) not in _BESIDE]
    if _phrases().get(" ".join(rest)) == "official":
        return _of_phrase("official")
    tokens = _tokens(spelled)
    content = tokens - FILLERS
    return (
        _of_contact(spelled) or _of_name(content) or _of_identifier(content) or _of_rules(content) or _of_noun(content)
    )


#: What may stand beside the name of an official number: patient_mrn, ssn_hash.
_BESIDE = PEOPLE | IDS | FILLERS


def _of_phrase(what: str) -> Meaning | None:
    if what == "official":
        return Meaning("official number", NameKind.PERSON, rank=_OFFICIAL)
    if what in ("id", "record"):
        return Meaning("identifier", NameKind.ID, rank=_ID, bare=what == "record")
    if what == "row":
        return Meaning("row", NameKind.THING)
    if what == "name":
        return Meaning("name", NameKind.NAME, rank=_NAME)
    if what == "phone":
        return CONTACT
    return _of_rules(frozenset({what}))


def _tokens(spelled: tuple[str, ...]) -> frozenset[str]:
    """The words that these spellings stand for; a number of something is a count."""
    known = _vocabulary()
    tokens = [known.get(word, word) for word in spelled]
    if "nombre" in spelled and spelled[spelled.index("nombre") + 1 :][:1] not in (("de",), ("d",)):
        tokens[spelled.index("nombre")] = "name"  # Spanish; French counts with "nombre de"
    if spelled[-1] == "at" and len(spelled) > 1:
        tokens[-1] = "time"
    number = next((i for i, word in enumerate(tokens) if word == "number" or spelled[i] == "n"), None)
    if number is not None and number + 1 < len(tokens):
        several = tokens[-1] in ("children", "visits", "days", "size") or (
            number == 0 and spelled[-1].endswith("s") and len(spelled[-1]) > _SHORTEST_PART
        )
        if several or (tokens[number + 1] == "of" and spelled[number] != "nr"):
            tokens[number] = "count"
    return frozenset(word for word in tokens if not word.isdigit())


#: What makes a name that ends in "phone" something else: how many, whether, what sort.
_ABOUT = frozenset({"count", "status", "type", "group", "level", "question", "number of", "note", "money", "device"})


def _of_contact(spelled: tuple[str, ...]) -> Meaning | None:
    """A name that ends in phone or e-mail, or begins so and goes on with whose it is."""
    tokens = [_vocabulary().get(word, word) for word in spelled if not word.isdigit()]
    while tokens and tokens[-1] in IDS | {"address"}:
        tokens.pop()
    ways = [word for word in tokens if word in ("phone", "email")]
    if not ways or _ABOUT & set(tokens) or not (tokens[-1] == ways[-1] or set(tokens[1:]) <= _WHOSE):
        return None
    return CONTACT if ways[-1] == "phone" else replace(CONTACT, word="e-mail")


_WHOSE = PEOPLE | STAFF | FILLERS | {"housing", "occupation", "contact", "phone", "email"}


def is_survey(names: Iterable[str]) -> bool:
    """Whether some columns are what only surveys have: respondents, questions, clusters.

    >>> is_survey(["respondent_id", "q1"]), is_survey(["visit", "kg"])
    (True, False)
    """
    return any(_tokens(spelled) & {"respondent", "question", "cluster"} for n in names if (spelled := words(n)))


def names_weight_unit(name: str) -> bool:
    """Whether a name says in what its weight is measured.

    >>> names_weight_unit("weight (kg)"), names_weight_unit("weight")
    (True, False)
    """
    return bool(set(words(name)) & {"kg", "kgs", "lb", "lbs", "pound", "pounds", "g", "gram", "grams", "body", "stone"})


def _of_name(content: frozenset[str]) -> Meaning | None:
    """Names of people and ways to reach them. The name of anything else is what that thing is."""
    rest = content - PEOPLE - IDS
    if not rest:
        return None
    if rest == {"card"}:
        return Meaning("bank card", NameKind.CONTACT, rank=_CONTACT)
    if rest == {"account"}:
        return Meaning("account", NameKind.PERSON, rank=_ACCOUNT)
    if rest <= {"forename", "surname", "first", "last", "name"} and rest - {"first", "last"}:
        if rest == {"name"}:
            return Meaning("name", NameKind.NAME, rank=_NAME)
        return Meaning("name", NameKind.PART_OF_NAME)
    if "name" in rest and rest & (STAFF | UNITS | THINGS):
        who = next(iter(sorted(rest & (STAFF | UNITS | THINGS))))
        return Meaning(who, NameKind.STAFF if who in STAFF else NameKind.THING, rank=_STAFF if who in STAFF else 0)
    return None


def _of_identifier(content: frozenset[str]) -> Meaning | None:
    """Whose or what's number it is."""
    if not content & IDS:
        return None
    of = content - IDS - {"name"}
    people = of & PEOPLE
    if people and of <= PEOPLE | UNITS | {"study", "record", "hospital", "case", "insurance", "school"}:
        return Meaning("person", NameKind.PERSON, rank=max(_RANKS[word] for word in people))
    if not of:
        return Meaning("identifier", NameKind.ID, rank=_ID)
    if of <= UNITS:
        return Meaning("household" if "household" in of else min(of), NameKind.UNIT)
    if of & STAFF:
        return Meaning(min(of & STAFF), NameKind.STAFF, rank=_STAFF)
    if of == {"device"}:
        return Meaning("device", NameKind.DEVICE, rank=_DEVICE)
    if of & THINGS and of <= THINGS | PEOPLE | STAFF | UNITS | {"study", "record", "case", "account"}:
        return Meaning(min(of & THINGS), NameKind.THING)
    if of <= {"study", "record", "case"}:
        return Meaning("identifier", NameKind.ID, rank=_ID, bare=True)
    found = _of_rules(of)
    if found is None and content & {"id", "number", "key", "hash", "pseudonym"}:
        return Meaning("identifier", NameKind.UNNAMED_ID)
    return found


def _of_rules(content: frozenset[str]) -> Meaning | None:
    return next((found for needed, found in _rules() if needed <= content), None)


def _of_noun(content: frozenset[str]) -> Meaning | None:
    """A noun that stands alone."""
    if content == {"subject"}:
        return Meaning("person", NameKind.PERSON, rank=_SUBJECT, bare=True)  # a person, or what is taught
    if content and content <= PEOPLE:
        return Meaning("person", NameKind.PERSON, rank=max(_RANKS[word] for word in content), bare=True)
    if content and content <= UNITS:
        return Meaning(min(content), NameKind.UNIT)
    if content and content <= STAFF:
        return Meaning(min(content), NameKind.STAFF, rank=_STAFF)
    if content and content <= THINGS:
        return Meaning(min(content), NameKind.THING)
    return None
