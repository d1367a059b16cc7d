"""Words in column names that hint at a role, in English, German, French, Spanish, Italian and Dutch.

A short word must be a whole part of the name; a long one may stand inside a compound. Only names are read.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

_SHORTEST_STEM = 5


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


PEOPLE = _words("""
patient person subject respondent participant customer client member employee student user resident citizen insured
versicherte kunde mitarbeiter teilnehmer personne paciente persona cliente paziente persoon klant medewerker
""")
IDENTIFIERS = _words("""
id pid uid uuid guid key code number no nr num record case index ident identifier identifiant identificador
idcode idnum idno persnr pnr
identificativo kennung nummer numero matricule matricola codigo codice kenmerk fallnummer aktenzeichen
""")
DIRECT = _words("""
surname firstname lastname forename fullname maiden email mail phone telephone tel mobile cell fax ssn nhs
passport address street iban account ip licence license signature photo nickname username login
vorname nachname familienname anschrift adresse strasse telefon handy sozialversicherung steuernummer steuerid ausweis
prenom courriel rue nir apellido apellidos direccion correo telefono calle dni nif movil
cognome indirizzo cellulare fiscale voornaam achternaam adres straat telefoon bsn mobiel rijksregister
""")
NAMES = _words("name nom nome naam nombre")
"""Alone they name a person; with a place or a thing they name that."""
QUASI = _words("""
age alter edad eta leeftijd birth birthday birthdate dob born geburt naissance nacimiento nascita geboorte
sex gender geschlecht sexe sexo sesso geslacht genre genero zip zipcode postcode postal plz postleitzahl cap cp
city town village stadt wohnort gemeinde kreis ville commune ciudad municipio citta comune stad woonplaats municipality
region regione county district state province provincia bundesland country land pays pais paese nation native
nationality staatsangehoerigkeit race education school degree bildung schule diplome
educacion istruzione opleiding marital familienstand civil civile burgerlijke occupation profession job beruf metier
ocupacion profesion professione beroep workclass employer arbeitgeber household haushalt menage hogar huishouden
language sprache langue idioma lingua taal height weight admission discharge aufnahme entlassung
""")
SENSITIVE = _words("""
disease diagnosis diagnoses diagnos diagnose icd illness condition symptom treatment therapy medication drug hiv
disorder disability pregnan krank erkrankung befund behandlung maladie diagnostic traitement enfermedad diagnostico
tratamiento malattia diagnosi terapia ziekte aandoening behandeling salary income wage earnings pay debt credit
gehalt einkommen lohn verdienst schulden salaire revenu dette salario sueldo ingreso ingresos deuda reddito stipendio
inkomen loon salaris religion religi faith glaube konfession geloof godsdienst political politic partei orientation
crime criminal conviction offence straftat blood result
""")
SPECIAL = _words("""
health gesundheit sante salud salute gezondheid union gewerkschaft syndicat sindicato sindacato vakbond
ethnic ethnicity ethnie etnia herkunft hispanic religion religi konfession genetic genome biometric sexuality
""")
"""Special categories of personal data in the law: health, union, ethnic origin, religion, genes, sexuality."""
PLAIN_IDENTIFIERS = _words("id pid uid uuid guid nr idcode idnum idno persnr pnr identifier identifiant kennung")
"""Identifiers even if rows repeat them."""
ROW_NUMBERS = _words("rownames rowname rownumber rownum rowid row unnamed zeilennummer zeile lfdnr")
WEIGHTS = _words("""
wgt wght weights fnlwgt pweight pwgt fweight aweight sampwt wt samplingweight gewichtung hochrechnungsfaktor ponderation
ponderacion ponderazione weging weegfactor
""")
"""Of a survey: how many people a record stands for."""
MONEY = _words("""
cost costs charge charges price spending expenditure expense expenses fee fees tax taxes rent loan loans mortgage
balance payment payments wealth asset assets capital lwage hwage wages hhinc hhninc kosten ausgaben miete steuer
vermoegen kredit loyer impot depense coste gasto gastos renta alquiler costo spesa affitto uitgaven huur belasting
""")
VISITS = _words("""
visit visits docvis hospvis consultation consultations prescription prescriptions stay stays claims hospitalisation
hospitalization arztbesuche besuche visites visitas visite bezoeken
""")
"""How often someone needed help: counts, not days."""
POSTAL = _words("zip zipcode postcode postal plz postleitzahl")


CODES = _words("""
code codes race ethnic ethnicity region regione county district state province provincia bundesland country nation
nationality staatsangehoerigkeit marital familienstand occupation profession beruf metier ocupacion profesion
professione beroep occ industry ind branch branche sector religion konfession workclass language sprache langue
category kategorie type typ diagnosis diagnose icd ward station
""")
"""Whole numbers under such a name stand for something: 4 is not twice 2."""


@cache
def _sieve(words: tuple[str, ...]) -> tuple[frozenset[str], re.Pattern[str]]:
    """Return the words, and a pattern of the long ones: most names have none of them, and there may be thousands."""
    long = [re.escape(word) for word in words if len(word) >= _SHORTEST_STEM]
    return frozenset(words), re.compile("|".join(long) or "(?!)")


@lru_cache(maxsize=4096)
def _parts_of(name: str) -> tuple[str, ...]:
    """Return the parts of a column name: patientID, patient_id and PATIENT-ID all give patient, id."""
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    plain = unicodedata.normalize("NFKD", split.replace("ß", "ss"))
    unmarked = "".join(mark for mark in plain if not unicodedata.combining(mark)).lower()
    return tuple(re.findall(r"[a-z]+", unmarked))


def matching_word(name: str, words: tuple[str, ...]) -> str | None:
    """Return the first of the words that the name contains."""
    parts = _parts_of(name)
    whole, stems = _sieve(words)
    if not whole.intersection(parts) and not any(stems.search(part) for part in parts):
        return None
    for word in words:
        if word in parts or (len(word) >= _SHORTEST_STEM and any(word in part for part in parts)):
            return word
    return None
