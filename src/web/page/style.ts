import { style as report } from "../../research/report/page/style.js";

/** The style of the report, and the style of elements that only a live page has. */
export const style = `${report}
.live main{padding-top:1.4rem}
.home{font:.86rem/1.5 var(--sans);margin:0 0 1.2rem}
.is{font-weight:600}
.is::before{content:"";display:inline-block;width:.6rem;height:.6rem;border-radius:50%;margin-right:.45rem;background:currentColor}
.is.running,.is.finished{color:var(--presented)}.is.held{color:var(--insights)}.is.waiting{color:var(--rejected)}.is.bad{color:var(--bad)}
.is.waiting::before,.is.finished::before{background:none;border:2px solid currentColor}
.state{display:flex;flex-wrap:wrap;align-items:center;gap:.25rem 1rem;font:.95rem/1.5 var(--sans);margin:.2rem 0}
.state .meta{margin:0}
.progress{white-space:nowrap;font-variant-numeric:tabular-nums}
progress{appearance:none;width:9rem;height:.5rem;border:0;border-radius:.25rem;background:var(--line);overflow:hidden;vertical-align:.06em;margin-right:.4rem}
progress::-webkit-progress-bar{background:var(--line)}
progress::-webkit-progress-value{background:var(--presented)}
progress::-moz-progress-bar{background:var(--presented)}
.acts,.steering form{display:flex;flex-wrap:wrap;gap:.5rem;margin:.5rem 0 0;align-items:end}
.acts:empty{display:none}
.live main{overflow-anchor:none}
#said{position:sticky;top:.6rem;z-index:2;border:1px solid var(--line);font-family:var(--sans)}
.live button{cursor:pointer;white-space:nowrap}
.live button:disabled{opacity:.6;cursor:default}
#now,.agent,.steering{font-family:var(--sans)}
#now{background:var(--card);border:1px solid var(--line);border-radius:4px;padding:.8rem 1.1rem .9rem;margin:0 0 1.4rem}
#now+.steering,.screening+.steering{margin-top:-.7rem}
.agent{border-left:3px solid var(--presented);padding:.1rem 0 .1rem 1rem;margin:1rem 0}
.agent h3{margin:0;font-weight:600}
.stream{list-style:none;margin:.5rem 0 0;padding:.5rem .8rem;max-height:13.5rem;overflow-y:auto;background:var(--tint);border-radius:4px;font-size:.84rem;line-height:1.5}
.stream li{margin:.15rem 0}
.stream .tool{font-family:ui-monospace,"SFMono-Regular",Menlo,Consolas,"Liberation Mono",monospace;font-size:.94em}
.stream .tool::before{content:"› "}
.stream .notice{color:var(--soft)}
.steering{margin:0 0 2rem;font-size:.92rem}
.steering>summary{color:var(--accent);width:fit-content;padding:.3rem 0}
.steering label{flex:1 0 100%;color:var(--soft);font-size:.86rem}
textarea{flex:1 1 16rem;min-width:0;font:.95rem/1.5 var(--sans);color:inherit;background:var(--card);border:1px solid var(--line);border-radius:4px;padding:.45rem .6rem;resize:vertical}
.steering input,.deciding input:not([type=hidden]){flex:1 1 12rem;min-width:0;font:.95rem/1.5 var(--sans);color:inherit;background:var(--card);border:1px solid var(--line);border-radius:4px;padding:.45rem .6rem}
.steering+.steering{margin-top:-1.6rem}
.screening{font-family:var(--sans);font-weight:600;margin:-.4rem 0 1.2rem}
.tabs{display:flex;flex-wrap:wrap;gap:.3rem 1.2rem;border-bottom:1px solid var(--line);margin:0 0 1rem}
.tabs a{color:var(--soft);text-decoration:none;padding:.35rem 0;border-bottom:3px solid transparent}
.tabs a[aria-current]{color:var(--ink);font-weight:600;border-color:var(--accent)}
.told{margin:.6rem 0 1rem}
#record h1{font-size:clamp(1.3rem,3.4vw,1.7rem);margin:.3rem 0 .5rem}
#record h1:focus{outline:none}
#record h2{font-size:1.05rem;margin:1.6rem 0 .4rem;border-top-width:1px;padding-top:.7rem}
.abstract{line-height:1.65}
.abstract mark{text-decoration:underline;text-decoration-color:var(--accent);text-underline-offset:.2em}
.passage{grid-column:2;font-size:.95rem}
.readers{list-style:none;padding:0;font-family:var(--sans);font-size:.92rem}
.deciding{position:sticky;bottom:0;z-index:2;font-family:var(--sans);background:var(--paper);border-top:2px solid var(--ink);margin:2rem 0 0;padding:.6rem 0 .7rem;display:flex;flex-wrap:wrap;gap:.5rem;align-items:start}
.deciding-cell .row{display:flex;flex-wrap:wrap;gap:.5rem;align-items:end;margin:.5rem 0;font-family:var(--sans)}
.deciding-cell summary{font-family:var(--sans);font-size:.88rem}
.deciding-cell label{flex:1 1 20rem;min-width:0;font-size:.86rem;color:var(--soft)}
.deciding-cell input:not([type=hidden]),.deciding-cell select{display:block;box-sizing:border-box;width:100%;font:.95rem/1.5 var(--sans);color:var(--ink);background:var(--card);border:1px solid var(--line);border-radius:4px;padding:.45rem .6rem}
.deciding .plain{display:contents}
.deciding .words{display:flex;gap:.5rem;align-items:center}
.deciding>.words{flex:1 1 16rem}
.deciding label{font-size:.86rem;color:var(--soft);white-space:nowrap}
.deciding details[open]{flex:1 0 100%;min-width:0;max-width:100%}
.deciding details[open] form{margin-top:.5rem}
.deciding summary{font-size:.88rem;line-height:1.3;background:var(--card);border:1px solid var(--line);border-radius:4px;padding:.45rem .7rem;list-style:none;width:fit-content}
.deciding summary::-webkit-details-marker{display:none}
.deciding .by{display:grid;grid-template-columns:minmax(0,1fr);gap:.35rem}
.deciding .by button{white-space:normal;text-align:start}
.deciding .keys[aria-pressed=false]{text-decoration:line-through}
@media (max-width:44rem){.deciding kbd,.deciding .keys{display:none}}
kbd{font:600 .78rem/1 ui-monospace,"SFMono-Regular",Menlo,Consolas,"Liberation Mono",monospace;border:1px solid var(--line);border-bottom-width:2px;border-radius:3px;padding:.1em .35em;color:var(--soft)}
.project{border-top:1px solid var(--line);padding:1rem 0}
.project h2{border:0;margin:0 0 .2rem;padding:0;font:600 1.08rem/1.35 var(--sans);letter-spacing:0}
.project h2 a{color:var(--ink);text-decoration:none}
.project h2 a:hover{color:var(--accent);text-decoration:underline}
.goals{list-style:none;padding:0}
.goals li{display:grid;grid-template-columns:6.5rem minmax(0,1fr);border-top:1px solid var(--line);padding:.45rem 0}
.goals b{font:600 .86rem/1.7 var(--sans);color:var(--soft)}
.goals .met b{color:var(--presented)}.goals .unmet b{color:var(--bad)}
.goals code{font-size:.92rem;overflow-wrap:anywhere}
.goals p{grid-column:2;margin:.1rem 0 0;overflow-wrap:anywhere}
tbody th{padding-top:.9rem}
tbody.all td{font-weight:600;padding-top:.9rem}
.wide main{max-width:78rem;padding-left:1.5rem;padding-right:1.5rem}
.beside .text{white-space:pre-wrap;font-size:1rem;line-height:1.6;max-width:44rem}
.beside .text b{font:600 1rem/1.5 var(--sans)}
.beside h2{font-size:1.1rem;margin-top:1.4rem;border-top-width:1px}
.quotes{list-style:decimal;padding-left:1.6rem;margin:1.4rem 0;font-size:.92rem}
.quotes li{border-top:1px dotted var(--line);padding:.6rem 0;scroll-margin-top:1rem}
.quotes li:target{background:var(--tint)}
.quotes p{margin:0 0 .2rem}
.quotes li::marker{font:600 .86rem var(--sans);color:var(--accent)}
.quotes q{font-size:.95rem}
.place{scroll-margin-top:30vh}
.place:target+mark,.place:target+.place+mark{outline:2px solid var(--accent);outline-offset:1px}
.to{font:600 .72rem/1 var(--sans);vertical-align:super;padding:0 .15em;text-decoration:none}
@media (min-width:64rem){
.beside{display:grid;grid-template-columns:minmax(18rem,26rem) minmax(0,1fr);gap:3rem;align-items:start}
.beside aside{position:sticky;top:1rem;max-height:calc(100vh - 2rem);overflow-y:auto;padding-right:.6rem}
}
@media (max-width:44rem){.live main{padding-top:3.4rem}.wide main{padding-left:1rem;padding-right:1rem}}
@media print{.deciding,.tabs,.screening,#now,.agent,.steering,.acts,.home,#said{display:none}}
`;
