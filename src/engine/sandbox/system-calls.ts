import { endianness } from "node:os";

/**
 * System calls that reach what no namespace divides, by their number in each machine language that the kernel may run
 * here: keyrings (a program inherits the session's, with the user's own keys), and io_uring, bpf, performance counters
 * and userfaultfd, by which most programs do nothing and attacks on a kernel do much.
 */
const refused: Readonly<Record<string, Readonly<Record<number, readonly number[]>>>> = {
  x64: {
    // AUDIT_ARCH_X86_64, and programs of 32 bits.
    0xc000003e: [248, 249, 250, 298, 321, 323],
    0x40000003: [286, 287, 288, 336, 357, 374],
  },
  arm64: { 0xc00000b7: [217, 218, 219, 241, 280, 282], 0x40000028: [309, 310, 311, 364, 386, 388] },
};
/** io_uring_setup, _enter and _register, the same everywhere. */
const everywhere = [425, 426, 427];

/** Numbers from here on are the x32 dialect's, whose programs nobody has. */
const x32 = 0x40000000;
const enosys = 38;

/** Operations of the kernel's filter language. */
const [load, equals, atLeast, answer] = [0x20, 0x15, 0x35, 0x06];
const [allow, refuse] = [0x7fff0000, 0x00050000 | enosys];
/** Where the number of the call and the machine language stand in what the filter looks at. */
const [callAt, languageAt] = [0, 4];

/**
 * A filter for `bwrap --seccomp` that answers these calls as a kernel does that has none of them; undefined on a
 * processor whose numbers are not known here.
 */
export function systemCallFilter(processor: string = process.arch): Uint8Array | undefined {
  const languages = Object.entries(refused[processor] ?? {});
  if (languages.length === 0 || endianness() !== "LE") return undefined;
  const program: [code: number, yes: number, no: number, value: number][] = [[load, 0, 0, languageAt]];
  for (const [language, own] of languages) {
    const calls = [...own, ...everywhere];
    const isX64 = Number(language) === 0xc000003e;
    const checks = calls.length + (isX64 ? 1 : 0);
    // Past its own block where it is another language: the look at the number, the checks, two answers.
    program.push([equals, 0, checks + 3, Number(language)], [load, 0, 0, callAt]);
    if (isX64) program.push([atLeast, checks, 0, x32]);
    calls.forEach((call, index) => program.push([equals, calls.length - index, 0, call]));
    program.push([answer, 0, 0, allow], [answer, 0, 0, refuse]);
  }
  program.push([answer, 0, 0, refuse]);
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, yes, no, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(yes, index * 8 + 2);
    bytes.writeUInt8(no, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
