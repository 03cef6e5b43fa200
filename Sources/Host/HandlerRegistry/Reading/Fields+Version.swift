import StrictFiles

extension Fields {
    /// Reports a problem if `apiVersion` is missing or unknown.
    func checkVersion(_ what: String, _ problems: ProblemList) {
        guard let node = required("apiVersion", what, problems) else { return }
        let version: String?
        if case .scalar(let text, isPlain: true) = node.value, Double(text) != nil {
            version = text  // of a number, the remedy is not to quote it
        } else {
            version = node.text("apiVersion", problems)
        }
        guard let version, version != "bgtask/v1" else { return }
        problems.error(
            node.place, "apiVersion '\(version.shortened)' is unknown", "This host reads 'bgtask/v1'")
    }
}
