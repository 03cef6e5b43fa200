public import LinuxSystem

/// The files from which the machine starts programs later, outside of any sandbox, or decides who may become
/// whom.
///
/// A task that may change one of them needs no fault of the host to leave its sandbox.
public enum StartupFiles {
    /// Below the home directory of a user: shells, desktop sessions, services, programs before the system's
    /// in PATH, who may log in, and the settings of editors and tools that name commands.
    private static let ofUser = [
        ".Xsession", ".bash_aliases", ".bash_completion", ".bash_login", ".bash_logout", ".bash_profile",
        ".bashrc", ".bashrc.d", ".cargo/bin", ".config/autostart", ".config/autostart-scripts",
        ".config/awesome", ".config/bspwm", ".config/direnv", ".config/environment.d", ".config/fish",
        ".config/git", ".config/hypr", ".config/i3", ".config/labwc", ".config/lxsession", ".config/niri",
        ".config/nushell", ".config/nvim", ".config/openbox", ".config/plasma-workspace", ".config/qtile",
        ".config/river", ".config/sway", ".config/systemd", ".config/user-tmpfiles.d",
        ".config/wayfire.ini", ".config/xfce4", ".config/zsh", ".cshrc", ".direnvrc", ".docker", ".emacs",
        ".emacs.d", ".forward", ".gitconfig", ".gnomerc", ".inputrc", ".kshrc", ".kube", ".local/bin",
        ".local/lib", ".local/share/applications", ".local/share/dbus-1", ".local/share/gnome-shell",
        ".local/share/systemd", ".login", ".mkshrc", ".npmrc", ".nvm", ".oh-my-zsh", ".pam_environment",
        ".profile", ".pyenv", ".ssh", ".tcshrc", ".vim", ".vimrc", ".xinitrc", ".xprofile", ".xsession",
        ".xsessionrc", ".zlogin", ".zlogout", ".zprofile", ".zshenv", ".zshrc", "bin", "go/bin",
    ]
    /// Of the machine, for which a host of root needs no other permission.
    private static let ofMachine = [
        "/boot", "/etc/NetworkManager", "/etc/X11", "/etc/acpi", "/etc/aliases", "/etc/alternatives",
        "/etc/anacrontab", "/etc/apt", "/etc/bash.bashrc", "/etc/bash_completion.d", "/etc/binfmt.d",
        "/etc/ca-certificates", "/etc/cloud", "/etc/cron.d", "/etc/cron.daily", "/etc/cron.hourly",
        "/etc/cron.monthly", "/etc/cron.weekly", "/etc/crontab", "/etc/csh.cshrc", "/etc/dbus-1",
        "/etc/default", "/etc/dhcp", "/etc/docker", "/etc/dpkg", "/etc/emacs", "/etc/environment",
        "/etc/environment.d", "/etc/exports", "/etc/fish", "/etc/fstab", "/etc/gitconfig", "/etc/group",
        "/etc/grub.d", "/etc/gshadow", "/etc/init.d", "/etc/initramfs-tools", "/etc/inittab", "/etc/kernel",
        "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/ld.so.preload", "/etc/logrotate.d", "/etc/lvm",
        "/etc/mailcap", "/etc/modprobe.d", "/etc/modules-load.d", "/etc/needrestart", "/etc/network",
        "/etc/networkd-dispatcher", "/etc/nsswitch.conf", "/etc/pam.d", "/etc/passwd", "/etc/polkit-1",
        "/etc/ppp", "/etc/profile", "/etc/profile.d", "/etc/python3", "/etc/rc.local", "/etc/security",
        "/etc/shadow", "/etc/skel", "/etc/ssh", "/etc/sudoers", "/etc/sudoers.d", "/etc/sysctl.conf",
        "/etc/sysctl.d", "/etc/systemd", "/etc/sysusers.d", "/etc/tmpfiles.d", "/etc/udev",
        "/etc/update-motd.d", "/etc/xdg/autostart", "/etc/zsh", "/proc", "/run/systemd", "/run/udev",
        "/sys/fs/cgroup", "/usr", "/var/lib/NetworkManager", "/var/lib/apt", "/var/lib/cloud",
        "/var/lib/containers", "/var/lib/dkms", "/var/lib/docker", "/var/lib/dpkg", "/var/lib/flatpak",
        "/var/lib/pam", "/var/lib/polkit-1", "/var/lib/rpm", "/var/lib/snapd", "/var/lib/systemd",
        "/var/spool/anacron", "/var/spool/at", "/var/spool/cron", "/var/spool/incron",
    ]
    /// Directories of the machine in which the host makes none for a `create` grant, and those in them in
    /// which it does.
    ///
    /// Programs of root look there for their settings. Most of these directories do not exist on most
    /// machines, so no list of them is complete.
    private static let ofPrograms = [
        "/bin", "/boot", "/dev", "/efi", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run",
        "/sbin", "/sys", "/usr",
    ]
    private static let forAnybody = ["/dev/shm", "/run/lock", "/run/shm"]

    /// The directory of the system in which a new directory could become settings of a program of root.
    ///
    /// - Parameter path: An absolute path without links.
    /// - Returns: Such as `/etc`; `nil` for a path elsewhere.
    static func systemDirectory(of path: String) -> String? {
        if forAnybody.contains(where: { path != $0 && PathWalk.isInside(path, $0) }) { return nil }
        return ofPrograms.first { PathWalk.isInside(path, $0) }
    }

    /// The directory with a name like `sudoers.d` that contains a path of `/etc` or `/run`, or is the path.
    ///
    /// What lies in such a directory is a part of some program's settings.
    static func settingsDirectory(of path: String) -> String? {
        guard ["/etc", "/run"].contains(where: { PathWalk.isInside(path, $0) }) else { return nil }
        let names = path.split(separator: "/")
        guard let last = names.firstIndex(where: { $0.hasSuffix(".d") }) else { return nil }
        return "/" + names[...last].joined(separator: "/")
    }

    /// How many home directories a host of root protects besides its own: each has some seventy paths, which
    /// are looked up when the host starts.
    private static let mostHomes = 100

    /// The paths for this process's user, of which some may not exist.
    ///
    /// - Parameter home: The value of the variable `HOME`, which the user's own entry in the list of users
    ///   does not replace: both directories are protected.
    /// - Returns: Absolute paths; those of homes come first.
    public static func standard(home: String? = ProcessFacts.environment("HOME")) -> [String] {
        var homes = [home, UserHomes.directory(ofUser: ProcessFacts.user)]
            .compactMap(\.self)
        // The users of the machine run what root's tasks write in their homes.
        if ProcessFacts.isRoot, let users = try? FileContents.read("/etc/passwd", limit: 1_048_576) {
            homes += UserHomes.ofPeople(
                inPasswd: String(decoding: users, as: UTF8.self), limit: mostHomes)
        }
        var paths: [String] = []
        for (index, home) in homes.enumerated()
        where home.hasPrefix("/") && !homes[..<index].contains(home) {
            paths += ofUser.map { "\(home)/\($0)" }
        }
        if let settings = ProcessFacts.environment("XDG_CONFIG_HOME"), settings.hasPrefix("/") {
            paths += ["autostart", "environment.d", "systemd"].map { "\(settings)/\($0)" }
        }
        return paths + ofMachine
    }
}
