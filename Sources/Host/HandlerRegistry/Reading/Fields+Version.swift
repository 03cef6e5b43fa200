import StrictFiles

extension Fields {
    /// Reports a problem if `apiVersion` is missing or unknown.
    func checkVersion(_ what: String, _ problems: ProblemList) {
        guard let node = required("apiVersion", what, problems) else { return }
        guard let version = node.text("apiVersion", problems), version != "bgtask/v1" else { return }
        problems.error(
            node.place, "apiVersion '\(version.shortened)' is unknown", "This host reads 'bgtask/v1'")
    }
}
