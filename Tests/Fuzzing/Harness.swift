// libFuzzer harness of the readers in Swift. The variable FUZZ selects one:
//
//   runnerwire  frames from tasks and the launcher
//   elf         libraries: their needs, functions and symbols
//   manifest    manifests and definitions of conditions, with the YAML reader
//   control     bodies of the control API

import ControlWire
import FoundationEssentials
import Glibc
import HandlerRegistry
import LinuxSystem
import RunnerWire
import TaskModel

/// The reader that the variable selects; the program ends if there is no such reader.
private func chosenReader() -> @Sendable ([UInt8]) -> Void {
    switch getenv("FUZZ").map({ String(cString: $0) }) {
    case "runnerwire": return readFrames
    case "elf": return readLibrary
    case "manifest": return readManifest
    case "control": return readBody
    default:
        print("Set FUZZ to runnerwire, elf, manifest or control.")
        exit(2)
    }
}

private let reader = chosenReader()

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func readOneInput(_ bytes: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    reader(Array(UnsafeBufferPointer(start: bytes, count: count)))
    return 0
}

@Sendable private func readFrames(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    var decoder = FrameDecoder()
    let piece = Int(first >> 1) + 1
    do throws(WireError) {
        for start in stride(from: 1, to: bytes.count, by: piece) {
            let chunk = Array(bytes[start..<min(bytes.count, start + piece)])
            try decoder.consume(chunk) { kind, body throws(WireError) in
                if first & 1 == 0 {
                    _ = try TaskReportMessage(kind: kind, body: body)
                } else {
                    _ = try LauncherReport(kind: kind, body: body)
                }
            }
        }
    } catch {
        _ = error.description
    }
}

@Sendable private func readLibrary(_ bytes: [UInt8]) {
    _ = try? ELFFile(bytes)
    _ = try? ELFNeeds.of(bytes: bytes)
    let symbols = ELFSymbols(bytes)
    for offset: UInt64 in [0, 0x40, 0x1000, .max] { _ = symbols.function(atOffset: offset) }
}

/// A file in memory, because the public reader takes paths.
private let manifestPath = "/dev/shm/bgtask-fuzz-\(getpid()).yaml"

@Sendable private func readManifest(_ bytes: [UInt8]) {
    guard let file = fopen(manifestPath, "w") else { return }
    fwrite(bytes, 1, bytes.count, file)
    fclose(file)
    for problem in ManifestLinter.lint(files: [manifestPath], pluginsDirectory: nil) {
        _ = problem.description
    }
    unlink(manifestPath)
}

@Sendable private func readBody(_ bytes: [UInt8]) {
    let data = Data(bytes)
    _ = try? ControlJSON.decodeStrictly(SubmissionMessage.self, from: data)
    _ = try? ControlJSON.decodeStrictly(SimulationMessage.self, from: data)
    _ = try? ControlJSON.decode(LaunchMessage.self, from: data)
    _ = try? ControlJSON.decode(HostEventMessage.self, from: data)
}
