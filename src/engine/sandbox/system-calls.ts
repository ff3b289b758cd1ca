import { endianness } from "node:os";

/**
 * System calls that namespaces do not isolate, by their number in each architecture that the kernel may run here:
 * keyrings (a program inherits the keyring of the login session, with the user's keys), and io_uring, bpf, performance
 * counters and userfaultfd, which few programs need and many attacks on a kernel use.
 */
const refusedCalls: Readonly<Record<string, Readonly<Record<number, readonly number[]>>>> = {
  x64: {
    // AUDIT_ARCH_X86_64, and AUDIT_ARCH_I386 for programs of 32 bits.
    0xc000003e: [248, 249, 250, 298, 321, 323],
    0x40000003: [286, 287, 288, 336, 357, 374],
  },
  arm64: { 0xc00000b7: [217, 218, 219, 241, 280, 282], 0x40000028: [309, 310, 311, 364, 386, 388] },
};
/** io_uring_setup, _enter and _register: their numbers are the same in every architecture. */
const commonCalls = [425, 426, 427];

/** Call numbers from here on belong to the x32 interface, which almost no program uses. */
const firstX32Call = 0x40000000;

/** The error number of ENOSYS. */
const enosys = 38;

/** Instructions of the kernel's filter language (BPF). */
const [load, equals, atLeast, returnResult] = [0x20, 0x15, 0x35, 0x06];
const [allow, refuse] = [0x7fff0000, 0x00050000 | enosys];
/** Byte offsets of the call number and of the architecture in the data that the filter reads. */
const [callOffset, architectureOffset] = [0, 4];

/**
 * A filter for `bwrap --seccomp`: the refused calls fail with ENOSYS, as in a kernel without them. Undefined for a
 * processor whose call numbers are not in the table.
 */
export function systemCallFilter(processor: string = process.arch): Uint8Array | undefined {
  const architectures = Object.entries(refusedCalls[processor] ?? {});
  if (architectures.length === 0 || endianness() !== "LE") return undefined;
  const program: [code: number, yes: number, no: number, value: number][] = [[load, 0, 0, architectureOffset]];
  for (const [architecture, specificCalls] of architectures) {
    const calls = [...specificCalls, ...commonCalls];
    const isX64 = Number(architecture) === 0xc000003e;
    const checks = calls.length + (isX64 ? 1 : 0);
    // Another architecture skips this block: the load of the call number, the checks, two return instructions.
    program.push([equals, 0, checks + 3, Number(architecture)], [load, 0, 0, callOffset]);
    if (isX64) program.push([atLeast, checks, 0, firstX32Call]);
    calls.forEach((call, index) => program.push([equals, calls.length - index, 0, call]));
    program.push([returnResult, 0, 0, allow], [returnResult, 0, 0, refuse]);
  }
  program.push([returnResult, 0, 0, refuse]);
  const bytes = Buffer.alloc(program.length * 8);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, index * 8);
    bytes.writeUInt8(ifTrue, index * 8 + 2);
    bytes.writeUInt8(ifFalse, index * 8 + 3);
    bytes.writeUInt32LE(value >>> 0, index * 8 + 4);
  }
  return bytes;
}
