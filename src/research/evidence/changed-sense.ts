import { wordsOf } from "./nearest-passage.js";

// Words of other languages stand next to the English ones, where they are not common English words themselves.

/** What turns round what stands right behind it. */
export const turning =
  "not no never neither nor without cannot hardly barely scarcely rarely seldom infrequently non few fewer little less least lack lacks " +
  "lacked lacking except excluding versus vs none nobody nothing " +
  "nicht kein keine keinen keiner keinem keines keinerlei nie niemals kaum selten weder ohne außer statt wenig wenige weniger mangels " +
  "pas jamais guère sans ni aucun aucune nul nulle moins rarement ne " +
  "sin ningún ninguna ninguno nunca jamás tampoco apenas menos não nem sem nunca non né mai senza nessun nessuna meno " +
  "niet geen nooit zonder zelden nauwelijks inte ikke ej aldrig aldri utan uden nie nigdy bez не нет ни без никогда едва " +
  "keinesfalls keineswegs mitnichten nirgends aucunement nullement neppure nemmeno neanche affatto geenszins allesbehalve ingen inget " +
  "ingenting wcale nikdy není nelze soha sosem değil hiç yok không chưa chẳng никак нельзя вряд tidak bukan jangan belum hayır δεν μην " +
  "όχι ποτέ لا لم لن ليس ليست غير بدون לא אין אינו אינה בלי ללא नहीं बिना";
export const negations =
  "nowhere fail fails failed failing failure absence absent unable unlikely untrue false falsely wrongly instead " +
  "excluded rather contrary unlike deny denies denied refuse refuses refused prevent prevents prevented avoid avoids avoided inability " +
  "impossible insufficient insufficiently inadequate inadequately incapable ineffective unsuccessful unsuccessfully doubt doubtful " +
  "dubious unproven unclear disputed opposed free stop stops stopped cease ceases ceased minus " +
  "neglect neglects neglected omit omits omitted forget forgets forgot missed abandon abandons abandoned barred resist resists resisted " +
  "halt halts halted powerless unwilling reluctant averse devoid ineligible vain nil null zero impotent discontinued " +
  "noch nichts niemand unmöglich keineswegs personne rien nada nadie nenhum niente nikt никто ничего";
/** What ties a statement to something else. Behind the first of them stands what is not said to be so. */
export const tying =
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

export const setOf = (...lists: string[]): ReadonlySet<string> => new Set(lists.join(" ").split(" "));
const withinSentence = setOf(
  ...[turning, negations, tying, conditions, quantifiers, ofOtherLanguages, relations, scopes, directions],
);
const betweenSentences = setOf(turning, negations, contrasts, "if whether only");
const signs = /[<>≤≥≠≪≫≮≯∉∌⊄±∄¬⩽⩾≲≳]/u;
/** Scripts without spaces have no words to look up: signs of negation, and of a condition, quantifier or relation. */
const unspacedNegation = /[不没沒無无非未勿莫]|ない|ません|なく|ず|없|않|아니|못/u;
const unspacedWeight =
  /如果|若|只[有是要能]|[仅僅]|除非|除了|所有|全部|每[个個次]|部分|大多|多数|少数|可能|也许|也許|以上|以下|超过|超過|至少|最多|几乎|幾乎|[约約]|もし|場合|だけ|のみ|すべて|全て|一部|多く|ほとんど|未満|より|ほぼ|かもしれ|만약|경우|모든|일부|대부분|이상|이하|미만|거의|보다/u;

export const normal = (text: string): string => text.replaceAll("’", "'").toLowerCase();
export const isContraction = (word: string): boolean => word.endsWith("n't");

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

export function weightyOf(skipped: string, words: ReadonlySet<string>): string | undefined {
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
