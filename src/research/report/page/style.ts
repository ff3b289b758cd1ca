/**
 * Colours by their use. `paper`, `card` and `tint` are backgrounds, `ink` and `soft` are colours of text, and `mark` is
 * the background of quoted words. Text in each colour has a contrast of at least 4.5:1 on the first three backgrounds.
 */
const light = {
  paper: "#fbfbf8",
  card: "#ffffff",
  tint: "#eff3f4",
  ink: "#1a1c1e",
  soft: "#565b61",
  line: "#dcdad2",
  accent: "#0b587a",
  presented: "#156a49",
  insights: "#815300",
  rejected: "#62686f",
  bad: "#a62c24",
  mark: "#f9f0d0",
};
const dark: typeof light = {
  paper: "#141618",
  card: "#1b1e21",
  tint: "#1d262b",
  ink: "#e9e7e2",
  soft: "#a8adb3",
  line: "#363b40",
  accent: "#7cc7e6",
  presented: "#58c598",
  insights: "#e2b35a",
  rejected: "#9ba2a9",
  bad: "#f28f85",
  mark: "#4d4526",
};

const variables = (colours: typeof light): string =>
  Object.entries(colours)
    .map(([name, value]) => `--${name}:${value}`)
    .join(";");

const page = `
*,::before,::after{box-sizing:border-box}
html{scroll-padding-top:1.5rem;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);font:1.0625rem/1.62 var(--serif);overflow-wrap:anywhere}
main{max-width:46rem;margin:0 auto;padding:2.6rem 0 5rem}
a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:.17em}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:2px}
h1,h2,h3,.kicker,nav,.figures,button,select,input,table,.meta,.chip,.points,.legend,figcaption,.how,.words,.src,dt,.note,.rank,.quiet{font-family:var(--sans)}
h1{font-size:clamp(1.65rem,4.6vw,2.3rem);line-height:1.18;letter-spacing:-.02em;margin:.3rem 0 1.3rem;text-wrap:balance}
h2{font-size:1.42rem;line-height:1.25;letter-spacing:-.012em;margin:3.6rem 0 1rem;padding-top:1.1rem;border-top:2px solid var(--ink)}
h3{font-size:1.04rem;line-height:1.35;margin:2rem 0 .45rem}
#changes h2{margin-top:1.8rem}
#changes+#question{margin-top:2.2rem}
p{margin:.6rem 0}
ul,ol{padding-left:1.3rem}
.kicker{font-size:.84rem;font-weight:600;color:var(--accent);margin:0}
.label{font:600 .8rem/1.4 var(--sans);color:var(--soft);margin:0}
.asked{font-size:1.16rem;line-height:1.5;margin:.1rem 0 1.3rem;text-wrap:pretty}
.answer{background:var(--card);border:1px solid var(--line);border-left:4px solid var(--accent);border-radius:4px;padding:1rem 1.25rem .9rem;margin:0 0 1.3rem}
.answer p.said{font-size:1.16rem;line-height:1.55;margin:.2rem 0 .7rem}
.how{font-size:.86rem;line-height:1.5;color:var(--soft);margin:.15rem 0}
.how b{color:var(--ink);font-weight:600}
.dots{color:var(--accent);letter-spacing:.1em;white-space:nowrap;font-family:var(--sans)}
.figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(6rem,1fr));margin:0;padding:0;border-top:1px solid var(--line);border-bottom:1px solid var(--line)}
.figures div{padding:.8rem .7rem .75rem;border-left:1px solid var(--line)}
.figures div:first-child{border-left:0;padding-left:0}
.figures dt{font-size:.8rem;line-height:1.35;color:var(--soft);font-weight:400;margin:0}
.figures dd{margin:0;font:600 1.42rem/1.2 var(--sans);font-variant-numeric:tabular-nums;letter-spacing:-.01em;overflow-wrap:normal}
.figures .bad dd{color:var(--bad)}
.contents{margin:1.6rem 0 0;font-size:.9rem;line-height:1.4}
.contents ul{list-style:none;margin:0;padding:0;columns:2;column-gap:1.5rem}
.contents li{break-inside:avoid}
.contents a{display:block;padding:.3rem 0;text-decoration:none;color:var(--soft)}
.contents a:hover,.contents a.on{color:var(--ink)}
.quiet{color:var(--soft);font-size:.9rem}
.note{font-size:.92rem;line-height:1.5;background:var(--tint);border-radius:4px;padding:.65rem .9rem;margin:.9rem 0}
.note.bad{border-left:4px solid var(--bad)}
.note p{margin:.25rem 0}
.list{list-style:none;margin:0;padding:0}
.list>li{padding:.85rem 0;border-top:1px solid var(--line)}
.list>li:first-child{border-top:0;padding-top:.2rem}
.list p{margin:0 0 .2rem}
.numbered{counter-reset:n}
.numbered>li{counter-increment:n;padding-left:2.1rem;position:relative}
.numbered>li::before{content:counter(n);position:absolute;left:0;font:600 1.05rem/1.6 var(--sans);color:var(--accent)}
.sides{list-style:none;margin:.4rem 0 0;padding:0}
.sides>li{border-left:3px solid var(--line);padding:.1rem 0 .1rem .9rem;margin:.6rem 0}
summary{cursor:pointer}
.words{font-size:.88rem;line-height:1.5;margin:.2rem 0 0}
.words>summary{color:var(--accent);width:fit-content}
.words .q{margin:.5rem 0}
q{display:block;white-space:pre-line;quotes:none;font:1rem/1.55 var(--serif);margin:.3rem 0 .1rem;padding-inline-start:.9rem;border-inline-start:3px solid var(--line)}
mark{background:var(--mark);color:inherit;padding:.05em 0;border-radius:2px;-webkit-box-decoration-break:clone;box-decoration-break:clone}
.src{font-size:.84rem}
.src a{white-space:nowrap}
#themes h3::first-letter{text-transform:uppercase}
.ok{color:var(--presented)}.off{color:var(--insights)}.wrong{color:var(--bad)}
.meaning{font:600 .84em/1 var(--sans);letter-spacing:-.12em;padding-inline-end:.12em;white-space:nowrap}
.chip{font-size:.76rem;font-weight:600;line-height:1.3;display:inline-block;padding:.12em .5em;border:1px solid;border-radius:3px;white-space:nowrap;color:var(--rejected)}
.chip.presented,.presented .chip{color:var(--presented)}.chip.insights,.insights .chip{color:var(--insights)}.chip.chip.bad{color:var(--bad);white-space:normal}.chip.insights{white-space:normal}
.tools{display:none}
.js .tools{display:flex;flex-wrap:wrap;gap:.5rem;margin:0 0 .6rem}
button,.tools select,.tools input{font-size:.88rem;line-height:1.3;color:inherit;background:var(--card);border:1px solid var(--line);border-radius:4px;padding:.45rem .7rem}
.tools button,.tools select{white-space:nowrap;cursor:pointer}
.tools input{flex:1 0 100%;min-width:0}
.tools input::placeholder{color:var(--soft);opacity:1}
button:hover,.tools select:hover{border-color:var(--accent)}
button[aria-pressed=true]{border-color:var(--accent);background:var(--tint);font-weight:600}
.theme{display:none;position:absolute;top:1rem;right:1rem;cursor:pointer;white-space:nowrap}
.js .theme{display:block}
.paper{border-top:1px solid var(--line);scroll-margin-top:1rem}
.head{display:grid;grid-template-columns:3.6rem minmax(0,1fr) auto;gap:0 .8rem;padding:.75rem 0;align-items:start;list-style:none}
.head::-webkit-details-marker{display:none}
.paper[open]>.head .title{color:var(--accent)}
summary.head:hover .title{color:var(--accent)}
.title{font-weight:600;line-height:1.4}
summary.head .title::after{content:"\\a0 ▸"/"";color:var(--accent)}
.paper[open]>.head .title::after{content:"\\a0 ▾"/""}
.why{display:block;font-size:.9rem;line-height:1.45;margin-top:.15rem}
q+small{display:block;padding-inline-start:1.1rem;font:.82rem/1.45 var(--sans);color:var(--soft)}
.meta{display:block;font-size:.82rem;line-height:1.45;color:var(--soft);margin-top:.1rem}
.rank{font-size:1.16rem;font-weight:600;line-height:1.35;font-variant-numeric:tabular-nums;color:var(--rejected)}
.rank small{display:block;font-size:.74rem;font-weight:400;color:var(--soft)}
.presented .rank{color:var(--presented)}.insights .rank{color:var(--insights)}
.body{padding:0 0 1.4rem 4.4rem}
.head>.rank:empty{display:none}
.head:has(>.rank:empty){grid-template-columns:minmax(0,1fr) auto}
.head:has(>.rank:empty)+.body{padding-left:0}
.body dl{margin:.4rem 0}
.body dt{font-size:.82rem;font-weight:600;color:var(--soft);margin-top:.9rem}
.body dd{margin:.1rem 0 0}
.body dd+dd{margin-top:.4rem}
.points{display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:.15rem 1.6rem;font-size:.84rem;color:var(--soft);margin:.3rem 0 .6rem;padding:0;list-style:none}
.points li{display:flex;gap:.5rem}
.points i{margin-left:auto;white-space:nowrap;font-style:normal;color:var(--accent);letter-spacing:.1em}
.ev dd{border-top:1px dotted var(--line);padding:.5rem 0;margin:0;scroll-margin-top:1rem}
.body dd p{margin:0}
.paper:target>.head,.head:target,.ev dd:target{background:var(--tint);box-shadow:0 0 0 .4rem var(--tint)}
.paper[hidden]{display:none}
.far .paper{content-visibility:auto;contain-intrinsic-size:auto 5.2rem}
figure{margin:1.6rem 0 2rem}
figure svg{display:block;width:100%;height:auto;font-family:var(--sans);overflow:visible}
figure svg.narrow{display:none}
figcaption{font-size:.86rem;line-height:1.5;color:var(--soft);margin-top:.7rem}
.legend{display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:.84rem;color:var(--soft);margin:0 0 .6rem}
.legend span{display:inline-flex;align-items:center;gap:.4rem}
.legend svg{width:.9rem;height:.9rem}
svg text{fill:var(--ink);font-size:13px}
svg .strong{font-weight:600}
svg .tick{font-size:11.5px;fill:var(--soft)}
svg .axis{font-size:12px;fill:var(--soft)}
svg .name{font-size:12px;paint-order:stroke;stroke:var(--paper);stroke-width:3px;stroke-linejoin:round}
svg .box rect{fill:var(--card);stroke:var(--soft)}
svg .off rect{fill:var(--paper);stroke-dasharray:4 3}
svg .end rect{stroke:var(--presented);stroke-width:2}
svg .grid{stroke:var(--line);fill:none}
svg .bar{stroke:var(--soft);stroke-dasharray:5 4;fill:none}
svg .arrow{stroke:var(--soft);fill:none}svg .tip{fill:var(--soft)}
svg .edge{stroke:var(--soft);opacity:.4}
svg .curve{stroke:var(--accent);stroke-width:2;fill:none;stroke-linejoin:round}
svg .second{stroke:var(--insights);stroke-dasharray:6 4}
svg .plain{fill:var(--accent)}
svg .presented{fill:var(--presented);stroke:var(--paper)}
svg .insights{fill:var(--insights);stroke:var(--paper)}
svg .rejected{fill:var(--paper);stroke:var(--rejected);stroke-width:1.6}
svg .waiting{fill:var(--line);stroke:var(--rejected)}
svg .missing{fill:var(--paper);stroke:var(--rejected);stroke-dasharray:2 2}
svg .unread{fill:var(--line);stroke:none}
svg a:hover circle,svg a:hover path,svg a:focus-visible circle,svg a:focus-visible path{stroke:var(--ink);stroke-width:2}
.table{overflow-x:auto;margin:1rem 0}
table{border-collapse:collapse;width:100%;font-size:.88rem;line-height:1.45;overflow-wrap:normal}
th,td{text-align:left;padding:.45rem .9rem .45rem 0;border-bottom:1px solid var(--line);vertical-align:top}
td{overflow-wrap:anywhere;min-width:7.2rem}
td.short{min-width:0;white-space:nowrap}td.hashes{min-width:8.5rem}
th{font-weight:600;color:var(--soft);white-space:nowrap}
td:first-child{overflow-wrap:break-word;min-width:4.5rem}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;min-width:0}
td:last-child,th:last-child{padding-right:0}
#form button{all:unset;cursor:pointer;font-weight:600}
#form button:focus-visible{outline:2px solid var(--accent)}
[aria-sort] button::after{content:" ▴"/""}[aria-sort=descending] button::after{content:" ▾"/""}
#form th[scope=row]{white-space:normal;min-width:8rem}
.cell[open]{min-width:15rem}.cell summary{list-style:none}.cell summary::-webkit-details-marker{display:none}
.cell summary:hover{color:var(--accent)}.cell q{font-size:.94rem}
.refs{font-size:.95rem}
.refs .src{color:var(--soft);white-space:nowrap}
.refs li{margin:.45rem 0}
#themes li,#method li,#ideas li{margin:.3rem 0}
.md>:first-child{margin-top:0}
.md img{display:none}
footer{margin-top:4rem;border-top:1px solid var(--line);padding-top:1rem}
@media (min-width:76rem){
body>main{position:relative}
.contents{position:fixed;top:2.7rem;left:calc(50% - 37rem);width:12rem;margin:0;max-height:calc(100vh - 4rem);overflow-y:auto}
.contents ul{columns:1}
.contents a{padding:.26rem 0 .26rem .8rem;border-left:2px solid var(--line)}
.contents a.on{border-color:var(--accent)}
}
@media (max-width:50rem){main{padding-left:1.5rem;padding-right:1.5rem}}
@media screen and (max-width:44rem){
body{font-size:1rem}
main{padding:3.6rem 1rem 3rem}
figure svg.wide{display:none}
figure svg.narrow{display:block;max-width:32rem}
.figures{grid-template-columns:repeat(3,1fr)}
.figures div:nth-child(3n+1){border-left:0;padding-left:0}
.figures div:nth-child(-n+3):not(:last-child){border-bottom:1px solid var(--line)}
.answer{padding:.8rem .95rem .7rem}
.answer p.said,.asked{font-size:1.06rem}
.head{grid-template-columns:2.9rem minmax(0,1fr)}
th[scope=row]{white-space:normal}
.head .chip{grid-column:2;justify-self:start;margin-top:.35rem}
.body{padding-left:0}
.head:has(>.rank:empty) .chip{grid-column:1}
}
@page{margin:18mm 16mm 20mm;@bottom-right{content:counter(page) " / " counter(pages);font:9pt sans-serif}}
@media print{
html{font-size:9.6pt}
body{background:none}
main{max-width:none;padding:0}
.theme,.tools,[aria-sort] button::after,.contents,.js .theme,.js .tools,summary.head .title::after{display:none}
h2,h3,dt,.label{break-after:avoid}
figure,.ev dd,.figures,.answer,tr,.q,.head,.list>li{break-inside:avoid}
.paper[open]>.head{break-after:avoid}
.far .paper{content-visibility:visible}
a{color:inherit}
mark{background:none;text-decoration:underline;text-decoration-thickness:.06em;text-underline-offset:.18em}
.refs a[href^=http]::after{content:" ‹" attr(href) "›";font-size:.86em}
}`;

const serif = `"Charter","Bitstream Charter","Iowan Old Style","Source Serif 4","Noto Serif",Georgia,serif`;
const sans = `system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Liberation Sans",sans-serif`;

/** The style sheet of the page. A printed page is always light. */
export const style = `:root{color-scheme:light;${variables(light)};--serif:${serif};--sans:${sans}}
@media screen{
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){color-scheme:dark;${variables(dark)}}}
:root[data-theme=dark]{color-scheme:dark;${variables(dark)}}
}${page}
`;
