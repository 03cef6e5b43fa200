import CLinuxShims

/// The machine code of this program, which the kernel maps piece by piece as it is used.
public enum ProgramText {
    /// Returns the memory of all code to the kernel, which maps again the pages that are used from now on.
    ///
    /// Otherwise, code that a program runs only at its start stays mapped, and counts as the program's
    /// memory.
    public static func release() {
        lx_release_program_text()
    }
}
