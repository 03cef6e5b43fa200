/// How the host writes its log to its standard error.
public enum LogFormat: String, Sendable, CaseIterable {
    /// To the journal, with fields, if systemd has connected standard error to it; else as ``text``.
    case automatic
    /// One readable line for each record.
    case text
    /// One JSON object on a line, with the keys of `bgtask logs --json`.
    case json
    /// To systemd's journal, with the launch and the task in fields of their own.
    case journal
}
