import SwiftUI

struct FeedList: View {
    let entries: [String]
    var body: some View {
        NavigationStack {
            List(entries, id: \.self) { Text($0) }
        }
        .navigationTitle(String(localized: "Feed"))
    }
}
