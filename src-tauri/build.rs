//! Embeds the page. A fresh clone compiles before the page is built: the window is then empty and says so.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dist = std::path::Path::new("../ui/dist");
    std::fs::create_dir_all(dist)?;
    if !dist.join("index.html").exists() {
        println!(
            "cargo:warning=ui/dist is empty: run `cargo xtask run`, or `npm --prefix ui run build`"
        );
    }
    // Without this an empty page would stay embedded.
    println!("cargo:rerun-if-changed=../ui/dist");
    println!("cargo:rerun-if-changed=../demo");
    // The two commands become permissions of their own; capabilities/main.json grants them to the one window.
    let manifest = tauri_build::AppManifest::new().commands(&["request", "subscribe"]);
    tauri_build::try_build(tauri_build::Attributes::new().app_manifest(manifest))?;
    Ok(())
}
