import { isContraction, negations, normal, setOf, turning, tying, weightyOf } from "./changed-sense.js";
import { wordsOf } from "./nearest-passage.js";

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
  "allegedly|supposedly|purportedly|reportedly|ostensibly|hypothetically|conceivably|presumably|perhaps|maybe|possibly|" +
  "ideally|in theory|in principle|on paper|at best";
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
  "contrary to(?: [^\\s,;:.]{1,30}){1,8}",
  "(?:under|as|in|on) (?!view )(?:(?!our|my)[\\p{L}’'-]{1,20} ){0,4}(?:hypothesis|assumption|counterfactual|scenario|premise|conjecture|fiction|null|" +
    "opinion|view|(?:ideal|perfect|fictional|possible|imaginary|hypothetical|better|other|counterfactual) worlds?|" +
    "(?:best|worst|ideal) case|[\\p{L}’']{1,20} (?:own )?(?:account|telling))(?: of(?: [^\\s,;:.]{1,30}){1,5})?",
  "(?:only (?:when|if|in|at|after|where|under|by|for|with)|as long as|so long as)(?: [^\\s,;:.]{1,30}){1,8}",
  "as (?:[\\p{L}’'-]{1,20} ){1,4}(?:would have it|has it|have it|tells? it|puts? it|claims?|alleges?|insists?|boasts?|hoped|feared|imagined?)",
  "(?:so the (?:rumou?r|story|legend) goes|to hear(?: [^\\s,;:.]{1,30}){1,5} tell it)",
].join("|");
/** Words behind which another clause begins, so that a denial before them says nothing of it. */
const clauseOpeners =
  "that|which|who|whom|whose|but|because|since|while|whereas|although|though|and|so|as|when|where|then|than|yet|" +
  "dass|aber|und|weil|que|qui|mais|et|car|pero|porque|ma|perché|mas|maar|men|och|og|ale|но|и";
/** A word behind an opening, in whose clause a passage still begins. */
const clauseWord = `(?:(?!(?:${clauseOpeners}) )[^\\s,;:.]{1,30} )`;
/** Up to that many words of one clause. */
const restOfClause = `${clauseWord}{0,30}`;
/** They hold for the whole clause behind them, however many words of it stand before a passage. */
const opened = [
  `(?:(?:and|but|so|even|only) )?(?:${openings}), ${restOfClause}`,
  `(?:${hedges}),? ${clauseWord}${restOfClause}`,
  `(?:suppose|imagine|assume|pretend) (?!that )${restOfClause}`,
  `according to(?: [^\\s,;:.]{1,30}){1,8}, ${clauseWord}{0,3}`,
].join("|");
const opening = new RegExp(`^[\\s"“‘¿(]{0,4}(?:${opened})$`, "u");
const verbFirst = "do|does|did|is|are|was|were|has|have|had|can|could|will|would|should|may|might";
const subjects =
  "the|an?|this|these|that|those|it|they|we|he|she|there|such|our|any|all|both|either|every|each|some|one|anyone|you";
/** A question or condition that puts its verb first, as far as its clause goes: "Does the valve | seal". */
const questioned = new RegExp(
  `^["“‘¿(]?(?:(?:and|but|so|why|how|when|where|what) )?(?:${verbFirst}) (?:${subjects}) ${restOfClause}$`,
  "u",
);

/** Idioms that deny or bound nothing. */
const idioms =
  /\b(?:not (?:surprisingly|unexpectedly|unreasonably|coincidentally|least|only(?: that,)?)|last but not least|no wonder|needless to say|without (?:any )?(?:exception|doubt|question)|if (?:anything|necessary|needed|required|possible|applicable|indicated|appropriate)|no less (?:important(?:ly)?|than)|no (?:fewer|more) than|(?<=\ba )(?:few|little))\b/gu;
/** NO among words in small letters is no "no". */
const nitricOxide = /(?<!\p{Lu}\s{0,3})(?<![\p{L}\p{N}])NO(?![\p{L}\p{N}]|\s{1,3}\p{Lu})/gu;
/** Two denials that assert: "there is no doubt that", "nobody disputes that", "it cannot be denied that". */
const beyondDoubt =
  /(?<!\p{L})(?:(?:no|not|nobody|no one|nothing|none|few|little|hardly|cannot|can't|beyond|without|never)(?: [\p{L}']{1,20}){0,3} (?:doubt\p{L}{0,3}|dispute[sd]?|den(?:y|ies|ied)|question(?:ed|s)?|contest(?:ed|s)?|accident|coincidence|secret|surprise|surprising|wonder)|the (?:sheer |mere |simple )?fact)$/u;
/** What brings in what somebody says, thinks or finds; "at" does so in the languages of the north only. */
const bringsIn =
  /(?:^|\s)(?:that|dass|daß|que|qu'|che|dat|att|że|что|(?<=\b(?:det|ikke|ikkje)\b.{0,40} )at)(?=[\s,("“‘]{1,4})/gu;
/** Words that vouch for what is brought in. */
const vouching =
  /^(?:show|demonstrat|find|found|suggest(?:s|ed|ing|ive)?$|indicat|reveal|observ|report|conclu|confirm|note$|notes$|noted$|noting$|notic|establish|prove|proof|evidence|evident|document|know|knew$|clear|obvious|plain(?:ly)?$|see$|seen$|saw$|fact|result|mean|impl|ensur|guarantee|estimat|determin|identif|infer|support|detect|discover|uncover|learn|follow|turn(?:s|ed)$|apparent|important|interesting|striking|surpris|noteworth|worth|notable|stress|aware|mind$|acknowledg|reason$|advantage|limitation|happen|confiden|describ|illustrat|highlight|emphasi|recogni|verif|explain|recall|remark|underlin|corroborat|agree|true$|likel|consistent|undeniabl|undisputed|indisputabl|unquestionabl|uncontested|undoubted|zeig|beleg|ergab|ergib|fand|gefunden|bestätig|stellte|festgestellt|montr|démontr|indiqu|trouv|constat|muestr|mostr|demuestr|encontr|dimostr|trova|toon|vond|visar|viser|visade|viste|fann|fandt|wykaz|показ|установ)/u;
/** Words that vouch where they stand right before "that", and phrases that do. */
const vouchingEnd =
  /(?:^| )(?:(?:such|so|given|now|in)|(?:point|upshot|bottom line|difference|consequence|lesson|news|catch|drawback|downside|strength|weakness|benefit|caveat|novelty|experience) (?:[\p{L}']{1,20} ){0,3}(?:is|was|are|teaches)|what (?:[\p{L}']{1,20} ){1,4}(?:is|was))$/u;
/** Courts and texts that make so what they say. */
const ruling =
  /(?:^| )(?:(?:court|tribunal|chamber|judges?|justices?|commission|panel)(?: [\p{L}']{1,20}){0,4} (?:held|holds|ruled|rules|decided|affirmed|reaffirmed)|(?:statute|law|act|code|directive|regulation|treaty|constitution|clause|section|article|theorem|lemma|proposition|corollary|convention)(?: [\p{L}\p{N}'().]{1,20}){0,4} (?:provide[sd]?|requires?|required|states?|stated|says?|stipulate[sd]?|prescribe[sd]?|specifie[sd]|asserts?|mandate[sd]?))$/u;
/** Verbs of those who say or think it: what vouches for it behind them, they alone have said. */
const sayingBefore =
  /^(?:claim(?:s|ed|ing)?|argu(?:e|es|ed|ing)|alleg(?:e|es|ed|ing|edly)|contend(?:s|ed|ing)?|believ(?:e|es|ed|ing)|think(?:s|ing)?|thought|assum(?:e|es|ed|ing)|suppos(?:e|es|ed|ing|edly)|suspect(?:s|ed|ing)?|speculat(?:e|es|ed|ing)|conjectur(?:e|es|ed|ing)|hop(?:e|es|ed|ing)|purport(?:s|ed|ing|edly)?|hypothesi[sz](?:e|es|ed|ing)|imagin(?:e|es|ed|ing)|said|says?|told|tells?|promis(?:e|es|ed))$/u;
/** Thoughts that nobody has shown: "our hypothesis implies". */
const thoughts = /^(?:hypothes[ei]s|theor(?:y|ies)|conjectures?|speculations?|assumptions?|beliefs?)$/u;
/** Words that take back what is brought in, whatever vouches for it beside them. */
const denying =
  /(?:^| )(?:false\p{L}{0,3}|wrong\p{L}{0,4}|untrue|erroneous\p{L}{0,2}|mistak\p{L}{0,5}|mislead\p{L}{0,5}|misle?d|misconce\p{L}{1,8}|misbelie\p{L}{1,4}|fallac\p{L}{1,5}|myths?|rumou?r\p{L}{0,3}|doubt\p{L}{0,5}|dubious|sceptical|skeptical|disput\p{L}{1,4}|debat\p{L}{1,5}|question\p{L}{0,6}|refut\p{L}{1,5}|reject(?:s|ed|ing)?|disprov\p{L}{1,4}|contradict\p{L}{0,5}|falsif\p{L}{1,4}|den(?:y|ies|ied|ying|ial)|retract\p{L}{0,4}|withdr[ae]w\p{L}{0,3}|overturn\p{L}{0,3}|revers(?:e|ed|ing) the|quash\p{L}{0,3}|rul(?:e|es|ed|ing) out|exclud\p{L}{1,3}|inconsistent|incompatible|impossible|improbable|unlikely|unclear|uncertain|unproven|unknown|undecided|unsettled|unable|inability|fail\p{L}{0,4}|lack\p{L}{0,3}|absence|insufficient|scant|contrary|against(?= (?:the |this |that |an? |any )?(?:[a-z]{1,20} ?){0,2}$)|(?:despite|spite of)(?! (?:[a-z]{1,12} ){0,2}(?:evidence|proof|knowledge|awareness|recognition)(?: |$))|notwithstanding|unless|until|lest|if|whether|even supposing|in the event|(?:provided|providing)$|possible|possibly|possibility|conceivabl\p{L}{1,2}|imaginable|plausible|cannot|might|would|(?:could|may)(?: [a-z]{1,12})? be|may well|anything but|far from|rather than|instead of|pretend\p{L}{0,3}|hallucinat\p{L}{1,3}|lied|exaggerat\p{L}{1,3}|tempting|premature|too early|hasty|naive|absurd|unreasonable|hard|difficult|error|prejudice|yet to|remains? to|once|non|angeblich|zweif\p{L}{1,6}|fraglich|falsch|dout\p{L}{1,5}|faux|dud\p{L}{1,4}|dubbi\p{L}{1,2}|duvid\p{L}{1,4}|twijfel\p{L}{0,3}|tvivl?\p{L}{1,4}|wątp\p{L}{1,5}|сомн\p{L}{1,8}|(?:hop|aim|want|try|tri|attempt|design|plan|seek|sought|set out|intend|wish|expect|order|meant)\p{L}{0,4}(?: \p{L}{1,12}ly)? to \p{L}{1,20})(?= |$)/u;
/** Words of those who say, think or suppose it, but vouch for nothing. */
const saying =
  /(?:^| )(?:claim|argu|assum|hypothes|speculat|conjectur|suppos|believ|belief|alleg|contend|contention|notion|suspect|suspicion|expect|anticipat|plan(?:s|ned)?$|predict|imagin|hop(?:e|ing)|fear|wish|think|thought|says?$|said|tells?$|told|swear|swore|sworn|promis|advertis|assert|maintain|insist|opine|submi[ts]|boast|brag|propos|suggestion|postulat|posits?$|posited|writ|wrote|teach|taught|legend|folklore|wisdom|idea|theor(?:y|ies)|premise|worr|impression|accus|hold|held|chances|odds|argument|views?$|opinion|petition|bill|draft|possib|behaupt|vermut|glaub|meint|hypothese|annahme|mythos|gerücht|prétend|croi|hypothès|affirm|mythe|rumeur|supon|cree|hipótes|afirma|mito|suppon|cred|ipotes|sostien|supõ|acredit|beweer|vermoed|geloof|påstå|påstod|hävd|hypotes|twierdz|uważa|hipotez|przypuszcz|утвержда|предполага|гипотез|счита)\p{L}{0,9}(?= |$)/u;
/** A preposition before "that" makes it a pronoun: "at that time". */
const pronounBehind =
  /(?:^| )(?:of|at|for|on|with|by|from|to|than|during|after|before|about|like|into|over|under|between|through)$/u;
/** A frame that asks, or supposes by its verb: "Can we conclude", "Had the trial shown". */
const asking = new RegExp(
  `^[^\\p{L}]{0,3}(?:(?:(?:how|why|when|where|what|who) (?:\\p{L}{1,20} ){0,2})?(?:${verbFirst}) (?!that)(?:${subjects})(?= |$)|(?:if|who|were|had|should|suppose|imagine|assum(?:e|ing)|let us|pace|nor) )`,
  "u",
);

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
  `(?:^|[\\s("“‘'])((?:${denials})${deniedWord}{1,4}|(?:whether|if|unless)${deniedWord}{1,30}) $`,
  "u",
);
const turnedAtEnd = new RegExp(`(?:[^\\s.!?;:]{1,20} )?(?<![\\p{L}\\p{N}-])(?:${turned})$`, "u");

/** Words that belong to what stands before them: "none | of the patients", "unable | to grasp". */
const joining = /^(?:of|to|from|than|that|longer) /;

/** Characters before a passage in which words are looked for that stand right before it. */
const nearBefore = 120;
/** Words of a frame that a reason shows. */
const maxShown = 4;

/**
 * The words before a passage that turn its sense round or make it another's: "does not", "whether", "claims that".
 * `before` is what stands there, up to the sentence's beginning; `head` is how the passage begins.
 */
export function turnedBy(before: string, head: string): string | undefined {
  const said = normal(before.replace(nitricOxide, "n"))
    .replace(/\s{1,9}/g, " ")
    .trimStart()
    .replace(idioms, "indeed");
  const tail = said.slice(-nearBefore);
  if (/[不没沒無无未]$/u.test(tail.trimEnd())) return tail.trimEnd().slice(-1);
  const asks = /^[^\p{L}]{0,4}\p{Lu}/u.test(before) && questioned.test(said);
  if (inverted.test(tail) || opening.test(said) || asks) return tail.trim();
  const frame = frameOf(said, normal(head).replace(/\s{1,9}/g, " "));
  if (frame !== undefined && frame.standing !== "vouched") return frame.words;
  const joined = joining.exec(normal(head).replace(/\s{1,9}/g, " "))?.[0];
  const joins = joined === undefined ? undefined : turnedAtEnd.exec(tail + joined)?.[0].slice(0, -joined.length);
  // What is vouched for right before the passage is not turned by a word of the frame.
  const isVouched = frame?.isRightBefore === true;
  return ((isVouched ? undefined : (turnedAtEnd.exec(tail)?.[0] ?? joins)) ?? denied.exec(tail)?.[1])?.trim();
}

/** Words that begin another clause than the one that a frame brings in, or end it. */
const clauseEnders =
  "but|because|since|while|whereas|although|though|so|yet|which|who|whom|whose|when|where|" +
  "and (?:we|they|it|he|she|this|these|there|thus|therefore|then|hence|so|that)|" +
  "dass|aber|und|weil|que|qui|mais|et|car|pero|porque|ma|perché|mas|maar|men|och|og|ale|но|и";
const clauseEnd = new RegExp(`[;:,]|\\s[-–—]\\s|(?<!\\p{L})(?:${clauseEnders}) `, "u");
/** Words set between "that" and what it brings in: "that, in the elderly,". */
const asideBehind = /^(?:, [^,;:()]{1,60}, | (?:in|at|on|among|under|for|with|by|after) [^,;:()]{1,40}, )/u;
/** So many words behind a frame that opens a sentence but neither vouches nor doubts, it is still taken for one. */
const maxUnknown = 3;
/** Words before "that" that make its frame, and of an aside in it. */
const maxFrame = 8;

interface Frame {
  readonly standing: "vouched" | "doubted" | "unknown";
  readonly isRightBefore: boolean;
  /** From the frame on up to the passage. */
  readonly words: string;
}

/**
 * What brings in the clause in which a passage begins: "We show that", "It is not true that the". Undefined where
 * nothing does. A frame within another is as good as the outer one.
 */
function frameOf(said: string, head: string): Frame | undefined {
  const open = said.replace(/\([^()]{0,200}\) ?/gu, "");
  let found: Frame | undefined;
  let isCoordinated = false;
  for (const { index, 0: bringer } of [...open.matchAll(bringsIn)].toReversed()) {
    const behind = open.slice(index + bringer.length);
    const isRightBefore = /^[\s,("“‘]{0,4}$/u.test(behind);
    const clause = behind.replace(asideBehind, " ");
    if (!isRightBefore && !isCoordinated && clauseEnd.test(clause.slice(0, -1))) break;
    const frame = frameBefore(open.slice(0, index));
    // "and that", "at that time"
    isCoordinated = /^(?:and|or)(?: \p{L}{1,12}){0,1}$/u.test(frame);
    if (isCoordinated || pronounBehind.test(frame)) continue;
    const isAsked = !/[,;:]/.test(open.slice(0, index)) && asking.test(open);
    const standing = isAsked ? "doubted" : standingOf(frame);
    const shown = `${frame.split(" ").slice(-maxShown).join(" ")} ${open.slice(index).trim()}`.trim();
    if (standing === "vouched") found ??= { standing, isRightBefore, words: shown };
    const isNear = isRightBefore || (clause.trim().split(" ").length <= maxUnknown && isOpening(open, frame, index));
    const isUnknown = standing === "unknown" && found === undefined && isNear && !isRelative(clause + head);
    if (standing === "doubted" || isUnknown) return { standing, isRightBefore, words: shown };
  }
  return found;
}

/** Whether a frame of a few words opens its sentence; a relative clause seldom does. */
const isOpening = (said: string, frame: string, end: number): boolean =>
  /^ ?that/u.test(said.slice(end, end + 6)) && frame !== "" && said.slice(0, end).trim().length <= frame.length + 1;
/** Whether a clause behind "that" begins with its verb: then it says of a thing which one is meant. */
const isRelative = (clause: string): boolean =>
  /^[\s"“]{0,3}(?:is|are|was|were|be|been|has|have|had|can|could|may|might|must|will|would|should|do|does|did|\p{L}{2,20}ed|(?:most|best|\p{L}{2,12}ly) \p{L}{2,20}) /u.test(
    clause,
  );

/** The words before "that", of its own clause and without what is set between commas. */
function frameBefore(said: string): string {
  const parts = said.split(
    /[;:]|(?<!\p{L}|thing |all )(?:but|because|whereas|although|though|while|and (?=we|they|it|he|she)) /u,
  );
  // An aside: "It was said by the sponsor, without data, that".
  const frame = (parts.at(-1) ?? "")
    .trim()
    .replace(/, (?:without|with|in|at|on|by|for|as|if|among|under) [^,]{1,60},$/u, ",");
  // "It is false, we show, that" says that it is false.
  return frame
    .replace(/,$/u, "")
    .split(", ")
    .slice(frame.endsWith(",") ? -2 : -1)
    .flatMap((part) => part.split(" ").slice(-maxFrame))
    .join(" ")
    .replace(/^[^\p{L}]{1,4}/u, "");
}

/** Whether a frame such as "We show" says that what it brings in is so. */
function standingOf(frame: string): Frame["standing"] {
  if (beyondDoubt.test(frame)) return "vouched";
  const said = wordsOf(frame);
  if (denying.test(frame)) return "doubted";
  if (said.some((word) => doubts.has(word) || isContraction(word))) return "doubted";
  const vouches = said.findIndex((word) => vouching.test(word));
  const isBefore = (word: string, at: number) =>
    at < vouches && (sayingBefore.test(word) || (at === vouches - 1 && thoughts.test(word)));
  if (said.some(isBefore)) return "doubted";
  if (vouchingEnd.test(frame) || ruling.test(frame) || vouches >= 0) return "vouched";
  return saying.test(frame) ? "doubted" : "unknown";
}

const listMark = /^\s{0,12}(?:[-*+•◦▪–—o]|\(?(?:\p{Nd}{1,2}|[a-z]|[ivx]{1,4})[.)])\s/iu;
const notSo = setOf(turning, negations);
const doubts = setOf(
  turning.replace(/ (?:less|least|ne|non)(?= )/g, ""),
  "falso faux fałsz неверно niemand rien nadie",
);

/** The line above a list that says that its points are not so; undefined where `before` ends in no such list. */
export function turnedByList(before: string): string | undefined {
  const lines = before.split("\n");
  if (!listMark.test(`${lines.pop()} `)) return undefined;
  const above = lines.findLast((line) => line.trim() !== "" && !listMark.test(line))?.trim() ?? "";
  const words = above.endsWith(":") ? weightyOf(above.slice(-120), notSo) : undefined;
  return words === undefined ? undefined : above.slice(-80);
}
