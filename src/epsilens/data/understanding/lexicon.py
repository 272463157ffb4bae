"""The words that names of columns are made of: data only, read by :mod:`.names`.

English in full; of German, French, Spanish, Italian, Dutch and Portuguese the commonest. Everything is written in small
letters without accents, as :func:`.names.words` makes it. A word on the left stands for all spellings on its right.
"""

from __future__ import annotations

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
