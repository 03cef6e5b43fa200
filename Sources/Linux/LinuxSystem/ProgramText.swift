import CLinuxShims

/// The machine code of this program, which the kernel maps piece by piece as it is used.
public enum ProgramText {
    /// Gives back the memory of all code; the kernel maps again what is used from now on.
    ///
    /// What a program runs only while it starts stays mapped otherwise, and counts as the program's memory.
    public static func release() {
        lx_release_program_text()
    }
}
