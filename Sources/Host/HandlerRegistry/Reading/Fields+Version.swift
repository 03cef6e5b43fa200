import StrictFiles

extension Fields {
    /// Reports a problem if `apiVersion` is missing or unknown.
    func checkVersion(_ what: String, _ problems: ProblemList) {
        guard let node = required("apiVersion", what, problems) else { return }
        // Of a number, the remedy is not to quote it.
        let number =
            if case .scalar(let text, isPlain: true) = node.value { Double(text).map { _ in text } } else {
                String?.none
            }
        guard let version = number ?? node.text("apiVersion", problems), version != "bgtask/v1" else {
            return
        }
        problems.error(
            node.place, "apiVersion '\(version.shortened)' is unknown", "This host reads 'bgtask/v1'")
    }
}
