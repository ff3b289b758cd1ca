/** The journals' macros of AASTeX, which the Astrophysics Data System (ADS) writes instead of the journals' names. */
const journals = `
aj Astronomical Journal
actaa Acta Astronomica
araa Annual Review of Astronomy and Astrophysics
apj Astrophysical Journal
apjl Astrophysical Journal Letters
apjs Astrophysical Journal Supplement Series
ao Applied Optics
apss Astrophysics and Space Science
aap Astronomy and Astrophysics
aapr Astronomy and Astrophysics Review
aaps Astronomy and Astrophysics Supplement Series
azh Astronomicheskii Zhurnal
baas Bulletin of the American Astronomical Society
bac Bulletin of the Astronomical Institutes of Czechoslovakia
caa Chinese Astronomy and Astrophysics
cjaa Chinese Journal of Astronomy and Astrophysics
icarus Icarus
jcap Journal of Cosmology and Astroparticle Physics
jrasc Journal of the Royal Astronomical Society of Canada
memras Memoirs of the Royal Astronomical Society
mnras Monthly Notices of the Royal Astronomical Society
na New Astronomy
nar New Astronomy Reviews
pra Physical Review A
prb Physical Review B
prc Physical Review C
prd Physical Review D
pre Physical Review E
prl Physical Review Letters
pasa Publications of the Astronomical Society of Australia
pasp Publications of the Astronomical Society of the Pacific
pasj Publications of the Astronomical Society of Japan
rmxaa Revista Mexicana de Astronomía y Astrofísica
qjras Quarterly Journal of the Royal Astronomical Society
skytel Sky and Telescope
solphys Solar Physics
sovast Soviet Astronomy
ssr Space Science Reviews
zap Zeitschrift für Astrophysik
nat Nature
iaucirc IAU Circulars
aplett Astrophysics Letters
apspr Astrophysics Space Physics Research
bain Bulletin of the Astronomical Institutes of the Netherlands
fcp Fundamentals of Cosmic Physics
gca Geochimica et Cosmochimica Acta
grl Geophysical Research Letters
jcp Journal of Chemical Physics
jgr Journal of Geophysical Research
jqsrt Journal of Quantitative Spectroscopy and Radiative Transfer
memsai Memorie della Società Astronomica Italiana
nphysa Nuclear Physics A
physrep Physics Reports
physscr Physica Scripta
planss Planetary and Space Science
procspie Proceedings of the SPIE
psj Planetary Science Journal
`;
const byMacro = new Map(
  journals
    .trim()
    .split("\n")
    .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)]),
);

/** The name of a journal in TeX, with such a macro replaced: "Astrophysical Journal" for "\apj". */
export const journalOf = (value: string): string => byMacro.get(/^\\([a-z]+)$/.exec(value)?.[1] ?? "") ?? value;
