/**
 * Ways in which a text speaks to a model or a reviewer instead of to its readers. Seen in articles with hidden text,
 * July 2025.
 */
const patterns: readonly RegExp[] = [
  /\b(?:ignore|disregard|forget|override)\b[^.!?]{0,30}\b(?:previous|prior|above|earlier|preceding|all|any|your|system)\b[^.!?]{0,30}\b(?:instructions?|prompts?|guidelines|directions|rules|messages)\b/i,
  /(?:^|[:;,"“(]\s*|\b(?:please|must|should|to|now|and|always|just)\s+)(?:give|write|provide|produce|submit|return|output)\b[^.!?]{0,40}\b(?:positive|favou?rable|glowing|enthusiastic)\b[^.!?]{0,20}\b(?:review|feedback|assessment|evaluation|recommendation|score|rating)s?\b(?! that| of users| from)/i,
  /\bdo not\b[^.!?]{0,30}\b(?:highlight|mention|report|criticise|criticize|point out|raise|list)\b[^.!?]{0,30}\b(?:negatives?|weakness(?:es)?|limitations?|flaws?|criticisms?|problems)\b/i,
  /\b(?:as an?|you are an?|if you are an?|for|to|attention|note to)\s+(?:AI|LLM|large language model|language model|chatbot|assistant)\b[^.!?]{0,12}\b(?:reviewers?|reviewing|models?|assistants?|agents?|you)\b[^.!?]{0,60}\b(?:must|should|please|shall|recommend|accept|ignore|rate|score|say|give|write|are)\b/i,
  /\b(?:give|assign|award|rate|score)\b[^.!?]{0,40}\b(?:(?:5|five|10|ten)\b[^.!?]{0,30}\b(?:every|all|each)|(?:every|all|each)\b[^.!?]{0,40}\b(?:5|five|10|ten)\b|(?:highest|maximum|top|full|perfect) (?:possible )?(?:scores?|ratings?|marks))/i,
  /\b(?:you must|please|always|strongly)\b[^.!?]{0,20}\b(?:recommend|accept)\b[^.!?]{0,25}\b(?:acceptance|this (?:paper|manuscript|submission|work))\b/i,
  /\b(?:you are now|from now on,? you|new instructions?:|system prompt:|<\/?(?:system|instructions?)>|\[INST\])/i,
  /\b(?:reveal|print|exfiltrate|send|leak)\b[^.!?]{0,30}\b(?:your (?:system )?prompt|api keys?|credentials|environment variables|secrets)\b/i,
];

/** At maxFound so many sentences, each of at maxFound so many characters: enough for a warning. */
const maxFound = 10;
const maxSentence = 300;

/**
 * Sentences that seem to be addressed to AI reviewers or models. Only a warning: an article about prompt injection
 * quotes such sentences too.
 */
export function findInstructions(text: string): string[] {
  const found: string[] = [];
  for (const sentence of sentencesOf(text)) {
    if (found.length === maxFound) break;
    if (patterns.some((pattern) => pattern.test(sentence)))
      found.push(sentence.length > maxSentence ? `${sentence.slice(0, maxSentence)}…` : sentence);
  }
  return [...new Set(found)];
}

function* sentencesOf(text: string): Generator<string> {
  for (const paragraph of text.split(/\n\s*\n/)) {
    const line = paragraph
      .replace(/(\p{L})-\n(?=\p{Ll})/gu, "$1")
      .replace(/\s+/g, " ")
      .trim();
    // A "sentence" without a full stop may be a whole table: cut, so that no pattern runs over pages.
    for (const sentence of line.split(/(?<=[.!?:]["”’)]?)\s+(?=["“‘(]?\p{Lu}|\d)/u)) {
      for (let start = 0; start < sentence.length; start += 2000) yield sentence.slice(start, start + 2000);
    }
  }
}
