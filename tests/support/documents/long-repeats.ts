/**
 * What a hostile document or quote repeats: brackets, tags, attributes, entities, macros, white space, marks, combining
 * signs, digits, quotation marks, ellipses, and what the rules of the readers and of the quote finder look for.
 */
// oxfmt-ignore
export const longRepeats: readonly string[] = [
  ...new Set([
  ..."(){}[]<>\"'`$%&#~^_\\|/*-+=.,;:!?@ \n\t\r\f\v\0aA1é中",
  "\u0336", "\u0301\u0323", "\u200b", "\u202e", "\u00a0", "\u{e0041}", "\ufeff", "\u00ad",
  "<p>", "</p>", "<b>", "<i>x</i>", "<b a=1>", "<td>x", "<tr><td>", "<table>", "<li>", "<a href=#>1</a>", "<sup><a href=#1>1</a></sup>",
  "<script>", "<script></script>", "<style>", "<style>.a . {", "<!--", "<!-- -->", "<![CDATA[", "<?x", "<!DOCTYPE ", "<!DOCTYPE x [",
  "<math>", "<math><mi>x</mi></math>", '<span style="color:#fff">x</span>', '<p hidden="">', "<h2>x</h2>", "<br>", "<pre>", "<svg>", "<select>", "<font>",
  "&amp;", "&#65;", "&", "&#x", "&lt;p&gt;", " a=1", ' a="1"', " a='", "=\"", "/>", "</",
  "<sec>", "<sec><title>x</title></sec>", "<xref ref-type=\"bibr\">1</xref>", "<fn>x</fn>", "<fn>", "<ref>x</ref>", "<inline-formula>x</inline-formula>",
  "\\iftrue ", "\\iffalse ", "\\else ", "\\fi ", "\\newif\\ifa ", "\\begin{a}", "\\end{a}", "\\begin{verbatim}", "\\begin{tabular}", "\\begin{equation}", "\\begin{abstract}",
  "\\newcommand{\\a}{b}", "\\newcommand{", "\\def\\a", "\\def\\a{\\a\\a}", "\\a ", "\\input{x}", "\\cite{a,b}", "\\ref{x}", "\\label{x}", "\\footnote{x}", "\\footnote{",
  "\\item ", "\\section{x}", "\\section{", "\\rule(", "\\verb|x|", "\\verb|", "\\textcolor{white}{x}", "\\color{white}", "\\bibitem{x}", "\\frac{1}{", "$x$", "$$", "\\[", "\\(", "\\'e", "\\\\", "% x\n",
  "## x\n", "## # #", "# x #", "---\n", "```\n", "~~~", "- x\n", "\n\n", " \n", "| x ", "a-\n", "[1]", "1, 2, ", "et al. ", "and ", "“", "’s ", "……", "---", "--",
  "x{display:none}", "@media{", ".a,", ".a .b>", "/*", "*/", "\\41 ", "var(--a)", "--a:var(--a);",
  ...[ "[", "]", "(", ")", "{", "}", "<", ">", "|", "/", "\\", "[]", "()", "[ ", "[1", "[1,", "[1, 2]", "[p. 4]", "[p. ", "[…]", "[...", "[a", ],
  ...["…", "...", ". ", ".", "..", ". . ", "(…)", "!", "?", "?!", "。", ",", ";", ":", ", "],
  ...[ "\u0338", "\u0301", "\u20d2", "=\u0338", "\u0338=", "a\u0301", "\u0334\u0301", "≠", "∉", "<=", ">=", "+/-", "->", "!=", "±", ],
  ...[ "1", "12 500 ", "1.", "1,", "1.5", "1/2", "½", "¹", "²³", "₁", "⁻", "10⁻⁵ ", "10^{-5} ", "^", "^{", "^_", "5 % ", "5 mW ", "10–20 ", ],
  ...["'", '"', "“", "”", "’", "`", "``", "'a", "«", "′", "″"],
  ...[" ", "\n", "\n\n", "\t", "\u00a0", " \n", "\u200b", "\u202a", "\u00ad", "\ufeff", "\u00ad\n"],
  ...[ "-", "--", "- ", "a-", "a-\n", "-\n", "—", "–", "−", "a - ", "\n- ", "\n1. ", "(a) ", "• ", "·", "\n# ", "| a ", " | \n", "\n[p. 4]\n", ],
  ...["*", "**", "_", "__", "*a", "a*", "**a** ", "_a_ ", "`a` ", "†", "word† ", "word.12 ", "word1 "],
  ...[ "a", "a ", "ab ", "word ", "not ", "if ", "claims that ", "A", "é", "ﬁ", "α", "αβ", "Å", "°", "x", "1 x ", "漢", "漢 ", "한", "\ud800", "😀", ],
  ...[ "References\n", "## References\n", "e.g. ", "et al. ", "Fig. ", "A. ", "in ", "in significant ", "effec-\nHead 12\ntive ", ],
  ...[ ": * a ", "x* [", " + a", "(Lee 2019; ", "Lee, ", "Lee and ", "(Lee et al., ", "10^(-5)", "10**", "5e-5 ", "not be ", "no way that ", "too a ", "12'500", "m s⁻¹ ", ],
  ...[ "5 to ", "one of ", "a|b", "5\"", "5' ", "5~", "ug ", "5 u", "™", "0·5", "5 * 3 ", "(p. 3) ", "[a] ", "[the hand] ", "mΩ ", "mW MW ", "fifteenly ", "n't ", "> a\n", ],
  ]),
];
