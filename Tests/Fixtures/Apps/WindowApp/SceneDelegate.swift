import BackgroundTasks
import UIKit
import os.log

class SceneDelegate: UIResponder, UIWindowSceneDelegate {
    static var connections = 0
    var window: UIWindow?

    func scene(
        _ scene: UIScene, willConnectTo session: UISceneSession,
        options connectionOptions: UIScene.ConnectionOptions
    ) {
        guard let windowScene = (scene as? UIWindowScene) else { return }
        Self.connections += 1
        window = UIWindow(windowScene: windowScene)
        window?.makeKeyAndVisible()
        print("scene connects to \(session.configuration.name ?? "none"), \(state(scene))")
    }

    func sceneDidDisconnect(_ scene: UIScene) {}
    func sceneWillEnterForeground(_ scene: UIScene) { print("scene enters foreground, \(state(scene))") }
    func sceneDidBecomeActive(_ scene: UIScene) { print("scene is active, \(state(scene))") }
    func sceneWillResignActive(_ scene: UIScene) { print("scene resigns, \(state(scene))") }

    func sceneDidEnterBackground(_ scene: UIScene) {
        print("scene enters background, \(state(scene))")
        let request = BGAppRefreshTaskRequest(identifier: "org.example.window.refresh")
        request.earliestBeginDate = Date(timeIntervalSinceNow: 15 * 60)
        do {
            try BGTaskScheduler.shared.submit(request)
        } catch {
            os_log("Could not schedule app refresh: %{public}@", "\(error)")
        }
    }

    private func state(_ scene: UIScene) -> Int { scene.activationState.rawValue }
}
