import { wordsOf } from "./nearest-passage.js";

// Words of other languages stand next to the English ones, where they are no common English words themselves.

/** What turns round what stands right behind it. */
const turning =
  "not no never neither nor without cannot hardly barely scarcely rarely seldom infrequently non few fewer little less least lack lacks " +
  "lacked lacking except excluding versus vs none nobody nothing " +
  "nicht kein keine keinen keiner keinem keines keinerlei nie niemals kaum selten weder ohne außer statt wenig wenige weniger mangels " +
  "pas jamais guère sans ni aucun aucune nul nulle moins rarement ne " +
  "sin ningún ninguna ninguno nunca jamás tampoco apenas menos não nem sem nunca non né mai senza nessun nessuna meno " +
  "niet geen nooit zonder zelden nauwelijks inte ikke ej aldrig aldri utan uden nie nigdy bez не нет ни без никогда едва " +
  "keinesfalls keineswegs mitnichten nirgends aucunement nullement neppure nemmeno neanche affatto geenszins allesbehalve ingen inget " +
  "ingenting wcale nikdy není nelze soha sosem değil hiç yok không chưa chẳng никак нельзя вряд tidak bukan jangan belum hayır δεν μην " +
  "όχι ποτέ لا لم لن ليس ليست غير بدون לא אין אינו אינה בלי ללא नहीं बिना";
const negations =
  "nowhere fail fails failed failing failure absence absent unable unlikely untrue false falsely wrongly instead " +
  "excluded rather contrary unlike deny denies denied refuse refuses refused prevent prevents prevented avoid avoids avoided inability " +
  "impossible insufficient insufficiently inadequate inadequately incapable ineffective unsuccessful unsuccessfully doubt doubtful " +
  "dubious unproven unclear disputed opposed free stop stops stopped cease ceases ceased minus " +
  "neglect neglects neglected omit omits omitted forget forgets forgot missed abandon abandons abandoned barred resist resists resisted " +
  "halt halts halted powerless unwilling reluctant averse devoid ineligible vain nil null zero impotent discontinued " +
  "noch nichts niemand unmöglich keineswegs personne rien nada nadie nenhum niente nikt никто ничего";
/** What ties a statement to something else. Behind the first of them stands what is not said to be so. */
const tying =
  "if unless whether only provided providing assuming assume assumed suppose supposing solely ob wenn falls sofern nur lediglich si " +
  "sauf seulement solo sólo solamente salvo excepto indien alleen endast kun bara если только jeśli tylko " +
  "merely just conditional conditionally contingent depending pending barring vorausgesetzt soltanto tenzij misschien kanske chyba forse " +
  "angeblich vermeintlich lediglich лишь возможно";
const conditions =
  "once assumption assumptions premise insofar extent adjustment apart aside bar depends dependent upon " +
  "when whenever until otherwise although though despite however but where hypothetically theoretically bis obwohl trotz jedoch aber " +
  "mais cependant pero aunque sino hasta";
/** What says of how many, how often or how surely a statement holds. */
const quantifiers =
  "all some most many every each any both several half majority minority partly partially mostly mainly largely primarily " +
  "predominantly sometimes usually often always occasionally generally may might can could would should shall must possibly perhaps " +
  "potentially probably likely apparently seemingly appears appear seems seem almost nearly approximately about roughly around nominally " +
  "occasion occasions fraction handful average instances tenth tenths fifth fifths percent ostensibly purport purports purported " +
  "virtually practically slightly marginally modestly minimally somewhat weakly twice thrice dozen dozens hundreds thousands " +
  "expected thought believed claimed alleged allegedly reportedly supposed supposedly presumed presumably arguably said hypothesised " +
  "hypothesized predicted planned intended aimed attempted tried hoped " +
  "alle einige manche manchmal viele vielleicht möglicherweise vermutlich teilweise fast etwa ungefähr könnte könnten soll sollte " +
  "tous toutes quelques certains parfois presque environ peut pourrait peut-être todos todas algunos algunas casi quizás quizá puede podría";
/**
 * Conditions, quantifiers and relations of other languages; not the words that are common ones in English ("men",
 * "end") or mean too many things (Spanish "se").
 */
const ofOtherLanguages =
  "soweit solange sobald sonst andernfalls ansonsten jede jeder jedes jedem jeden sämtliche mehrere wenigstens nahezu oft häufig meist meistens " +
  "überwiegend gelegentlich beide hälfte größer kleiner höher niedriger besser schlechter länger kürzer als gegenüber verglichen bevor " +
  "lorsque lorsqu quand pourvu sinon uniquement excepté hormis tout toute chaque chacun chacune plusieurs souvent majorité minorité moitié " +
  "généralement habituellement beaucoup peu supérieur supérieure inférieur inférieure meilleur meilleure mieux comparé comparée avant " +
  "cuando mientras únicamente cada varios varias muchos muchas pocos pocas mayoría minoría mitad todo toda generalmente veces ambos mejor peor " +
  "comparado comparada aproximadamente pueden podrían " +
  "quando qualora purché finché unicamente eccetto tranne altrimenti ogni tutti tutte tutto tutta alcuni alcune molti molte pochi poche " +
  "maggior maggioranza metà spesso talvolta circa può possono potrebbe maggiore minore superiore inferiore migliore peggiore rispetto più " +
  "caso somente apenas exceto contanto senão enquanto alguns algumas muitos muitas poucos poucas maioria minoria metade geralmente " +
  "frequentemente talvez quase pode podem poderia mais maior melhor pior aproximadamente " +
  "wanneer mits zolang slechts behalve uitsluitend elke elk ieder iedere sommige veel weinig meeste minderheid helft vaak soms bijna ongeveer " +
  "kunnen mogelijk meestal meer minder groter hoger lager beter slechter dan vergeleken " +
  "gdy jeżeli kiedy dopóki jedynie wyłącznie oprócz wszystkie wszyscy wszystkich każdy każda każde każdego każdej każdym niektóre niektórzy niektórych niektórym wiele większość połowa często czasem " +
  "prawie około może mogą prawdopodobnie zwykle kilka więcej mniej większy mniejszy wyższy niższy lepszy gorszy niż ponad poniżej bardziej " +
  "когда пока кроме исключительно иначе все всех каждый каждая каждое каждого каждом каждой некоторые некоторых многие большинство меньшинство половина часто иногда " +
  "почти около может могут вероятно обычно несколько более менее больше меньше выше ниже лучше хуже чем " +
  "om när såvida ifall varje alla några många flera flesta hälften ibland nästan ungefär högre lägre större bättre sämre än " +
  "hvis når dersom medmindre hver noen nogle mange fleste ofte omtrent højere lavere bedre dårligere enn";
/** What sets one thing against another. */
const relations =
  "more than lower higher greater smaller larger better worse inferior superior below above under over within beyond exceeds exceed up " +
  "faster slower longer shorter stronger weaker heavier lighter earlier later older younger warmer colder hotter cooler safer easier " +
  "harder closer farther wider narrower thicker thinner cheaper " +
  "excess upwards exceeding against surpass surpasses surpassing surpassed outperform outperforms outperformed " +
  "outperforming twofold threefold tenfold comparable lieu outside opposite " +
  "equal compared relative mehr mindestens höchstens plus más menor mayor";
/** How sure a finding is, and of whom it holds: who leaves that out says more than the paper. */
const scopes =
  "significant significantly statistically relatively comparatively respectively whereas while suggest suggests suggested suggesting " +
  "tend tends tended seemed seemingly appeared indicative preliminary exploratory unadjusted adjusted crude uncorrected pooled subgroup " +
  "unchanged unaffected similar similarly identical equivalent indistinguishable differ differs differed negative negatively " +
  "uncertain inconclusive equivocal borderline questionable controversial debated untested alone exclusively purely " +
  "subgroups subset mice mouse rats murine animals vitro vivo silico simulated";
/** What says which way something went: who leaves one out gives its number to another verb. */
const directions =
  "rise rises rose risen rising fall falls fell fallen falling increase increases increased increasing decrease decreases decreased " +
  "decreasing drop drops dropped dropping decline declines declined declining grow grows grew grown reduce reduces reduced reducing " +
  "improve improves improved worsen worsens worsened gain gained lose lost double doubled halve halved " +
  "steigt stieg sinkt sank fiel augmente diminue aumentó disminuyó aumenta diminuisce";
/** A sentence that begins with one of these takes back or bounds what stands before it. */
const contrasts = "however but although though nevertheless nonetheless conversely contrary unless except yet";
const phrases = new RegExp(
  [
    "\\b(?:short|shy) of\\b|\\bclose to\\b|\\bto (?:a|some) (?:\\p{L}{1,20} )?degree\\b|\\bin the event\\b",
    "\\b(?:\\p{N}{1,9}|two|three|four|five|six|seven|eight|nine|ten) times\\b|\\b(?:similar|identical|equivalent|different) (?:to|from)\\b",
    "\\b(?:attempt|plan|effort|chance|aim|goal)s? (?:to|at|of)\\b|\\bgiven (?!to\\b|by\\b|in\\b|at\\b|as\\b|the\\b)|\\bin contrast\\b",
    "\\bin (?:part|place|vain|principle|theory|rare|isolated|certain|various|exceptional|single|one|two|three)\\b",
    "\\bat (?:best|worst|night|rest)\\b|\\bon paper\\b|\\bnow and\\b|\\bas a rule\\b|\\bas \\p{L}{1,20} as\\b|\\beven \\p{L}|\\bso far as\\b",
    "\\b(?:were|had|should) (?:it|they|he|she|this|that|we)\\b",
    "(?<!\\p{L})(?:à (?:peine|moins|condition)|es sei denn|siempre que|de ningún|en absoluto|может быть)(?!\\p{L})",
    "\\b(?:(?:as|so) long as|in case|on condition|subject to|far from|too \\p{L}{1,20}|\\d{1,9} (?:out )?of|(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|third|quarter) of)\\b|% of\\b|\\bn'\\p{L}",
  ].join("|"),
  "u",
);

const setOf = (...lists: string[]): ReadonlySet<string> => new Set(lists.join(" ").split(" "));
const withinSentence = setOf(
  ...[turning, negations, tying, conditions, quantifiers, ofOtherLanguages, relations, scopes, directions],
);
const betweenSentences = setOf(turning, negations, contrasts, "if whether only");
const signs = /[<>≤≥≠≪≫≮≯∉∌⊄±∄¬⩽⩾≲≳]/u;
/** Scripts without spaces have no words to look up: signs of negation, and of a condition, quantifier or relation. */
const unspacedNegation = /[不没沒無无非未勿莫]|ない|ません|なく|ず|없|않|아니|못/u;
const unspacedWeight =
  /如果|若|只[有是要能]|[仅僅]|除非|除了|所有|全部|每[个個次]|部分|大多|多数|少数|可能|也许|也許|以上|以下|超过|超過|至少|最多|几乎|幾乎|[约約]|もし|場合|だけ|のみ|すべて|全て|一部|多く|ほとんど|未満|より|ほぼ|かもしれ|만약|경우|모든|일부|대부분|이상|이하|미만|거의|보다/u;

const normal = (text: string): string => text.replaceAll("’", "'").toLowerCase();
const isContraction = (word: string): boolean => word.endsWith("n't");

/** The word or sign of a stretch of a sentence that may not be left out of it; undefined where it is missing. */
export const weighty = (skipped: string): string | undefined =>
  weightyOf(skipped, withinSentence) ??
  signs.exec(skipped)?.[0] ??
  phrases.exec(normal(skipped))?.[0] ??
  unspacedWeight.exec(skipped)?.[0];

/**
 * The same for whole sentences left out between whole sentences: they may say how many, but nothing to the contrary.
 */
export const weightySentence = (skipped: string): string | undefined => weightyOf(skipped, betweenSentences);

function weightyOf(skipped: string, words: ReadonlySet<string>): string | undefined {
  const text = normal(skipped);
  // French and Italian join a word to the next: "lorsqu'il", "qu'aucun".
  const isWeighty = (word: string) =>
    words.has(word) || isContraction(word) || word.split("'").some((part) => words.has(part));
  return wordsOf(text).find(isWeighty) ?? unspacedNegation.exec(text)?.[0];
}

const counts =
  /^(?:and|or|plus) |\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\p{L}{3,6}teen|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|hundred|thousand|million|percent|\p{L}{2,12}fold|once)\b|(?!namely)\b\p{L}{4,20}ly\b/iu;

/**
 * Whether words set into a quote in brackets say something of their own: a negation, a number, a relation, a degree, a
 * further thing.
 */
export const saysMore = (inserted: string): boolean =>
  /[\p{N}=%~≈+−-]/u.test(inserted.replace(/(?<=\p{L})-(?=\p{L})/gu, "")) ||
  counts.test(inserted) ||
  weighty(inserted) !== undefined;

/** Words behind which what is said to be so is another's, or in doubt. */
const reported =
  "(?:claim|argu|assum|hypothes|speculat|conjectur|suppos|believ|belief|doubt|alleg|conten[dt]|pretend|myth|notion|question|disput|" +
  "suspect|untrue|false|unclear|unlikely|unproven|den(?:y|ie)|provided|retract|" +
  "remain|fail|lack|contrary|possible|think|thought|expect|predict|imagin|hop(?:e|ing)|fear|wish|wrong|mistak|misconce|fallac|rumou?r|" +
  "refut|reject|disprov|contradict|falsif|inconsistent|incompatible|impossible|cannot|might|would|may be|could be|unable|far from|" +
  "rather than|instead of|without|if only)\\p{L}{0,9}|no|not|never|none|nothing|nobody|neither|little|few|hardly|yet|\\p{L}{2,8}n't";
/** What may stand between such a word and what it turns: "not been shown", "rarely did". */
const between =
  "(?: (?:do|does|did|is|are|was|were|be|been|being|has|have|had|to|the|a|an|any|yet|so|longer|at all|shown|seen|found|known|proven|observed|able|likely)){0,3}";
const mark = '[\\s,("“‘]{1,4}';
/** What takes a whole sentence out of what is said to be so. */
const hedges =
  "allegedly|supposedly|purportedly|reportedly|ostensibly|hypothetically|perhaps|maybe|possibly|ideally|in theory|in principle";
/** How a sentence may begin before words that do not say, alone, what they say in it. */
const turned = [
  `(?:${turning.replaceAll(" ", "|")}|${tying.replaceAll(" ", "|")}|se|als|om|than|almost|nearly|\\p{L}{2,8}n't)${between}${mark}`,
  `(?<![\\p{L}])n'`,
  `(?:${reported})(?: [^\\s,;:]{1,20}){0,5} that${mark}`,
  "(?:declined?s?|neglect(?:s|ed)?|forg[eo]ts?|omit(?:s|ted)?|ought|has yet|have yet|power|powerless|unwilling|means|seem(?:s|ed)?|" +
    "appear(?:s|ed)?|said|meant|likely|purport(?:s|ed)?|attempts?|effort|efforts|plans?|planned|about|going|due|helping|trying|tries|" +
    "hoping|hopes?|wish(?:es|ed)?|want(?:s|ed)?|seeks?|sought|designed|destined|predicted|presumed|suspected|reported|rumou?red|wont) to ",
  `(?:${turning.replaceAll(" ", "|")}|cannot|\\p{L}{2,8}n't)(?: (?:in|by|at|on|any|all|no|way|means|time|point|case|account|so|far|ever|once|yet|even|` +
    `really|also|then|there|near|but|able|to|anything|the|least|little|much|power|\\p{L}{2,20}ly|trying|helping|shown|found|of|been|have|be)){1,6}${mark}`,
  "(?:anything but|nothing but|all but|nowhere near|by no means|in no way|far from)(?: able to)? ",
  "(?:asked|asks?|wondered|unclear|unknown|oklart|onduidelijk|unklar|ignore|claro|chiaro|sabe|wiadomo|неизвестно),? " +
    "(?:(?:if|whether|ob|si|se|of|om|czy) )?",
  `(?:claim|assum|suppos|believ|doubt|hypothesi[sz]|alleg)(?:s|e|es|ed|ing)? `,
  "(?:fail|fails|failed|failing|failure|unable|unlikely|refuse[sd]?|inability|insufficient|impossible|reluctant|ceased?|hypothesi[sz]ed|" +
    "assumed|supposed|claimed|alleged|believed|thought|expected|intended|aimed?|aims|attempt(?:s|ed)?|tried|hoped|too \\p{L}{2,20}) to ",
  "(?:lack|absence|instead|devoid|free|failure|lieu|short|none|few|neither|little|any|some|half|most|majority|minority|third|quarter|exception|incapable) of ",
  "(?:far|prevent(?:s|ed)?|refrain(?:s|ed)?|free|exclud(?:es|ed)|stop(?:s|ped)?|kept) from ",
  "(?:no|any) longer ",
  "(?:as opposed|in contrast|contrary) to ",
  "(?:lest|(?:as|so) long as|in case|in the event|except where|except when|save where|as though) ",
  `(?:${hedges}),? `,
  `is it (?:really |also )?(?:true|false|possible|likely|plausible|so|the case) that${mark}`,
  "(?:myth|misconception|fallacy|rumou?r|assumption|claim|objection|question|false|untrue|wrong|incorrect|h\\d{1,2}[a-z]?|" +
    "hypothes[ie]s(?: \\d{1,2}[a-z]?)?): ",
  `(?:not|never|nothing|none|no|neither)(?: [^\\s,;:.]{1,20}){0,4}: `,
].join("|");
/** A verb that alone stands before its subject makes a question or a condition of a sentence. */
const inverted =
  /^["“‘¿(]?(?:(?:and|but|so|why|how|when|where|what|nor|only then|under which \p{L}{1,20}) )?(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|may|might) $/u;
/** How a sentence opens that says the rest on a condition, or for another. */
const openings = [
  "(?:if|unless|were|had|should|provided|assuming|suppose|wenn|falls|si|se|jeśli|если)(?: [^\\s,;:.]{1,30}){1,12}",
  "(?:contrary|according) to(?: [^\\s,;:.]{1,30}){1,8}",
  "(?:under|as|in|on) (?:\\p{L}{1,20} ){1,4}(?:hypothesis|assumption|counterfactual|world|scenario|premise|conjecture)",
].join("|");
/** Words behind which another clause begins, so that a denial before them says nothing of it. */
const clauseOpeners =
  "that|which|who|whom|whose|but|because|since|while|whereas|although|though|and|so|as|when|where|then|than|yet|" +
  "dass|aber|und|weil|que|qui|mais|et|car|pero|porque|ma|perché|mas|maar|men|och|og|ale|но|и";
/** A word behind an opening, in whose clause a passage still begins. */
const clauseWord = `(?:(?!(?:${clauseOpeners}) )[^\\s,;:.]{1,30} )`;
const opening = new RegExp(
  `^[\\s"“‘¿(]{0,4}(?:(?:and|but|so|even|only) )?(?:(?:${openings}), ${clauseWord}{0,3}|(?:${hedges}),? ${clauseWord}{1,3})$`,
  "u",
);
/** The same behind a frame that opens a sentence: "Critics say that the new | drug works". */
const framed = new RegExp(`^[\\s"“‘(]{0,4}((?:[^\\s,;:.]{1,25} ){1,8})that ${clauseWord}{1,3}$`, "u");
/** What brings in what somebody says, thinks or finds; "at" does so in the languages of the north only. */
const bringsIn =
  /(?:^|\s)(?:that|dass|daß|que|qu'|che|dat|att|że|что|(?<=\b(?:det|ikke|ikkje)\b.{0,40} )at)[\s,("“‘]{1,4}$/u;
/** Words that vouch for what is brought in. */
const vouching =
  /^(?:show|demonstrat|find|found|suggest|indicat|reveal|observ|report|conclu|confirm|note$|notes$|noted$|noting$|establish|prove|proof|evidence|evident|document|know|clear|obvious|see$|seen$|saw$|fact|result|mean|impl|ensur|such$|so$|given$|now$|in$|estimat|determin|identif|infer|support|detect|discover|learn|follow|turn(?:s|ed)$|apparent|important|interesting|striking|surpris|noteworth|worth|notable|stress|aware|mind$|acknowledg|reason$|advantage|limitation|happen|knew$|confiden|describ|illustrat|highlight|emphasi|recogni|verif|explain|recall|remark|underlin|corroborat|agree|true$|view$|likel|consistent|zeig|beleg|ergab|ergib|fand|gefunden|bestätig|montr|démontr|indiqu|trouv|muestr|mostr|demuestr|encontr|dimostr|trova|toon|vond|visar|viser|visade|viste|fann|fandt|wykaz|показ)/u;

/** What denies, asks or supposes a whole phrase: "no significant difference", "whether the use of a tourniquet". */
const denials =
  "not(?! only)|no(?! doubt)|never|neither|nor|without|cannot|none|hardly|rarely|seldom|barely|scarcely|" +
  "(?:fail(?:s|ed|ing)?|unable|failure|inability) to|(?:lack|absence) of|lack(?:s|ed|ing)?|\\p{L}{2,8}n't|" +
  "nicht|kein(?:e[nmrs]?)?|niemals|ohne|weder|ob|wenn|falls|pas|aucune?|sans|jamais|sin|ning[uú]na?|nunca|senza|nessun[ao]?|" +
  "não|sem|nenhuma?|niet|geen|nooit|zonder|inte|ingen|inget|aldrig|utan|ikke|nie|bez|не|нет|без";
/** A word within a denied phrase. */
const deniedWord = `(?: (?!(?:${clauseOpeners}) )[\\p{L}\\p{N}][\\p{L}\\p{N}'/%-]{0,30})`;
/** So many words behind a denial its phrase still goes on; a question or condition holds for its whole clause. */
const denied = new RegExp(
  `(?:^|[\\s("“‘'])((?:${denials})${deniedWord}{1,4}|(?:whether|if|unless)${deniedWord}{1,8}) $`,
  "u",
);
/** The same for what somebody is said to claim: "claims that the | drug works". */
const claimed = new RegExp(
  `(?<![\\p{L}\\p{N}-])((?:${reported})(?: [^\\s,;:]{1,20}){0,5} that ${clauseWord}{1,3})$`,
  "u",
);

const turnedAtEnd = new RegExp(`(?:[^\\s.!?;:]{1,20} )?(?<![\\p{L}\\p{N}-])(?:${turned})$`, "u");

/** Words that belong to what stands before them: "none | of the patients", "unable | to grasp". */
const joining = /^(?:of|to|from|than|that|longer) /;

/**
 * The words right before a passage that turn its sense round or make it another's: "does not", "whether", "claims
 * that". `before` is what stands there, up to the sentence's beginning; `head` is how the passage begins.
 */
export function turnedBy(before: string, head: string): string | undefined {
  const tail = normal(before)
    .replace(/\s{1,9}/g, " ")
    .slice(-120);
  if (/[不没沒無无未]$/u.test(tail.trimEnd())) return tail.trimEnd().slice(-1);
  if (inverted.test(tail.trimStart()) || opening.test(tail)) return tail.trim();
  const frame = bringsIn.exec(tail);
  if (frame !== null && !isVouchedFor(tail.slice(0, frame.index))) return tail.trim().split(" ").slice(-4).join(" ");
  const opened = framed.exec(tail);
  if (opened !== null && !isVouchedFor(opened[1] ?? "")) return tail.trim();
  const joined = joining.exec(normal(head).replace(/\s{1,9}/g, " "))?.[0];
  const joins = joined === undefined ? undefined : turnedAtEnd.exec(tail + joined)?.[0].slice(0, -joined.length);
  return (turnedAtEnd.exec(tail)?.[0] ?? joins ?? denied.exec(tail)?.[1] ?? claimed.exec(tail)?.[1])?.trim();
}

/** Words before "that" in which somebody vouches for what follows. */
const maxFrame = 6;

/** Whether a frame such as "We show" says that what it brings in is so. */
function isVouchedFor(frame: string): boolean {
  const said = wordsOf(frame).slice(-maxFrame);
  if (/^[^\p{L}]{0,3}(?:were|had|should|if) /u.test(frame)) return false;
  return said.some((word) => vouching.test(word)) && !said.some((word) => doubts.has(word) || isContraction(word));
}

const listMark = /^\s{0,12}(?:[-*+•◦▪–—o]|\(?(?:\p{Nd}{1,2}|[a-z]|[ivx]{1,4})[.)])\s/iu;
const notSo = setOf(turning, negations);
const doubts = setOf(
  turning.replace(/ (?:less|ne) /g, " "),
  "false falso faux fałsz неверно insufficient scant unlikely improbable against niemand rien nadie once",
);

/** The line above a list that says that its points are not so; undefined where `before` ends in no such list. */
export function turnedByList(before: string): string | undefined {
  const lines = before.split("\n");
  if (!listMark.test(`${lines.pop()} `)) return undefined;
  const above = lines.findLast((line) => line.trim() !== "" && !listMark.test(line))?.trim() ?? "";
  const words = above.endsWith(":") ? weightyOf(above.slice(-120), notSo) : undefined;
  return words === undefined ? undefined : above.slice(-80);
}
