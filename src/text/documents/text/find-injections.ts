/** Patterns of instructions to a model or a reviewer, from articles with hidden text that were found in July 2025. */
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

/** Maximum number of sentences that are returned. */
const maxSentences = 10;
/** Maximum length of a sentence that is returned. */
const maxSentenceChars = 300;

/**
 * Finds sentences that seem to be instructions to AI reviewers or models. They are only a reason for a warning: an
 * article about prompt injection quotes such sentences too.
 */
export function findInstructions(text: string): string[] {
  const instructions: string[] = [];
  for (const sentence of sentencesOf(text)) {
    if (instructions.length === maxSentences) break;
    if (patterns.some((pattern) => pattern.test(sentence)))
      instructions.push(sentence.length > maxSentenceChars ? `${sentence.slice(0, maxSentenceChars)}…` : sentence);
  }
  return [...new Set(instructions)];
}

function* sentencesOf(text: string): Generator<string> {
  for (const paragraph of text.split(/\n\s*\n/)) {
    const line = paragraph
      .replace(/(\p{L})-\n(?=\p{Ll})/gu, "$1")
      .replace(/\s+/g, " ")
      .trim();
    // A "sentence" without a full stop may be a complete table. It is divided, so that the patterns stay fast.
    for (const sentence of line.split(/(?<=[.!?:]["”’)]?)\s+(?=["“‘(]?\p{Lu}|\d)/u)) {
      for (let start = 0; start < sentence.length; start += 2000) yield sentence.slice(start, start + 2000);
    }
  }
}
