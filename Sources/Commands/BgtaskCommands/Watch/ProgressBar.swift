import ControlWire
import TaskModel

/// The line that a terminal shows while a launch runs.
enum ProgressBar {
    /// The line `L42 Exporting [#####-----]  50 % 5/10 hashing  1.2 s`, cut to the width; `nil` if no launch
    /// runs.
    ///
    /// If the total is not known, a mark moves through the bar; the caller increases `tick` with every
    /// drawing.
    static func line(_ story: RequestStory, now: WallTime, tick: Int, width: Int) -> String? {
        guard story.isRunning, let launch = story.launch else { return nil }
        let elapsed = launch.elapsed(at: now)
        let text = Printable.text(Wording.progress(story.progress))
        let cells = 24
        let bar: String
        if let fraction = story.progress?.progress.fraction {
            let done = Int(fraction * Double(cells))
            bar = String(repeating: "#", count: done) + String(repeating: "-", count: cells - done)
        } else {
            let place = tick % cells
            bar =
                String(repeating: "-", count: place) + "#" + String(repeating: "-", count: cells - place - 1)
        }
        let title =
            story.title.isEmpty ? "" : Table.cut(Printable.text(story.title), to: max(16, width / 3)) + " "
        return Table.cut(
            "\(launch.launch) \(title)[\(bar)] \(text.isEmpty ? "" : text + "  ")\(elapsed)", to: width)
    }
}
