//! Passwords: what one may be, and its hash.
//!
//! Argon2id (RFC 9106) with the memory and passes that OWASP's Password Storage Cheat Sheet names.
//! A hash takes memory and a processor's time, so a few are made at once, on threads that may block;
//! others wait in a queue that has an end.

use std::sync::Arc;

use argon2::password_hash::{PasswordHash, PasswordHasher as _, PasswordVerifier as _, SaltString};
use argon2::{Algorithm, Argon2, Params, Version};
use sluice_core::secret::Secret;
use tokio::sync::Semaphore;

/// Characters that a password has at least.
pub const SHORTEST_PASSWORD: usize = 12;
/// Characters that a password has at most.
const LONGEST: usize = 1_000;
/// Hashes that are made at once.
const AT_ONCE: usize = 2;
/// Hashes that are made or wait.
const MOST_WAITING: usize = 32;

/// What a hash costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PasswordCost {
    /// Memory, in KiB.
    pub memory_kib: u32,
    /// Passes over it.
    pub passes: u32,
}

impl Default for PasswordCost {
    fn default() -> Self {
        Self { memory_kib: 19 * 1024, passes: 2 }
    }
}

/// Why a password cannot be set. Each names the form's field `password`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WeakPassword {
    /// Too short.
    #[error("`password` has {0} characters; use at least {SHORTEST_PASSWORD}, such as four words")]
    Short(usize),
    /// Too long.
    #[error("`password` has more than {LONGEST} characters; use fewer")]
    Long,
    /// It is the e-mail address.
    #[error("`password` is the e-mail address; choose something that others do not know")]
    IsEmail,
}

/// Why there is no hash.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unhashed {
    #[error("too many sign-ins wait already")]
    Busy,
    #[error("a password could not be hashed: {0}")]
    Failed(String),
}

/// A password that keeps to the rules for `email`.
pub(super) fn checked(password: &Secret<String>, email: &str) -> Result<(), WeakPassword> {
    let characters = password.expose().chars().count();
    if characters < SHORTEST_PASSWORD {
        return Err(WeakPassword::Short(characters));
    }
    if characters > LONGEST {
        return Err(WeakPassword::Long);
    }
    if password.expose().trim().to_lowercase() == email {
        return Err(WeakPassword::IsEmail);
    }
    Ok(())
}

/// Makes hashes and compares passwords with them.
#[derive(Debug, Clone)]
pub(super) struct Passwords {
    cost: PasswordCost,
    at_once: Arc<Semaphore>,
    queue: Arc<Semaphore>,
    /// The hash of no password: comparing with it takes as long as with any other.
    of_nobody: Secret<String>,
    /// How many were made or compared.
    #[cfg(test)]
    pub(super) computed: Arc<std::sync::atomic::AtomicUsize>,
}

impl Passwords {
    pub(super) fn new(cost: PasswordCost) -> Self {
        let PasswordCost { memory_kib, passes } = cost;
        // 16 bytes of salt and 32 of hash, all zero.
        let (salt, hash) = ("A".repeat(22), "A".repeat(43));
        let of_nobody = format!("$argon2id$v=19$m={memory_kib},t={passes},p=1${salt}${hash}");
        Self {
            cost,
            at_once: Arc::new(Semaphore::new(AT_ONCE)),
            queue: Arc::new(Semaphore::new(MOST_WAITING)),
            of_nobody: Secret::new(of_nobody),
            #[cfg(test)]
            computed: Arc::default(),
        }
    }

    /// Takes every place of the queue, as long as what it returns is kept.
    #[cfg(test)]
    pub(super) fn fill(&self) -> tokio::sync::OwnedSemaphorePermit {
        let all = u32::try_from(MOST_WAITING).unwrap();
        self.queue.clone().try_acquire_many_owned(all).unwrap()
    }

    /// The hash of a password, in the PHC format.
    pub(super) async fn hash(&self, password: &Secret<String>) -> Result<Secret<String>, Unhashed> {
        let (cost, password) = (self.cost, password.clone());
        self.compute(move || hash(cost, &password)).await?
    }

    /// Whether a password has this hash; nobody's where there is none, which takes as long.
    pub(super) async fn fits(
        &self,
        password: &Secret<String>,
        hash: Option<&Secret<String>>,
    ) -> Result<bool, Unhashed> {
        let is_somebodys = hash.is_some();
        // One that is too long is nobody's: its length must not cost anything.
        let is_possible = password.expose().len() <= LONGEST * 4;
        let hash = hash.unwrap_or(&self.of_nobody).clone();
        let password = if is_possible { password.clone() } else { Secret::new(String::new()) };
        let fits = self.compute(move || fits(&password, &hash)).await??;
        Ok(fits && is_somebodys && is_possible)
    }

    async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Unhashed> {
        #[cfg(test)]
        self.computed.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let waits = self.queue.clone().try_acquire_owned().map_err(|_| Unhashed::Busy)?;
        let turn = self.at_once.clone().acquire_owned().await.map_err(|_| Unhashed::Busy)?;
        let computed = tokio::task::spawn_blocking(move || {
            // Whoever asked may be gone: the thread is busy all the same.
            let _held = (waits, turn);
            work()
        });
        computed.await.map_err(|error| Unhashed::Failed(error.to_string()))
    }
}

fn hash(cost: PasswordCost, password: &Secret<String>) -> Result<Secret<String>, Unhashed> {
    let mut salt = [0; 16];
    getrandom::fill(&mut salt).map_err(|error| Unhashed::Failed(error.to_string()))?;
    let failed = |error: argon2::password_hash::Error| Unhashed::Failed(error.to_string());
    let salt = SaltString::encode_b64(&salt).map_err(failed)?;
    let params = Params::new(cost.memory_kib, cost.passes, 1, None)
        .map_err(|error| Unhashed::Failed(error.to_string()))?;
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let hash = argon2.hash_password(password.expose().as_bytes(), &salt).map_err(failed)?;
    Ok(Secret::new(hash.to_string()))
}

fn fits(password: &Secret<String>, hash: &Secret<String>) -> Result<bool, Unhashed> {
    use argon2::password_hash::Error;
    // What it says is not repeated: it may hold a part of the hash.
    let broken = |_| Unhashed::Failed("its hash in the database is malformed".to_owned());
    let hash = PasswordHash::new(hash.expose()).map_err(broken)?;
    // One without salt or hash would fit no password, as if a wrong one had been given.
    if hash.salt.is_none() || hash.hash.is_none() {
        return broken(Error::Password).into_err();
    }
    // Memory and passes are those of the hash.
    match Argon2::default().verify_password(password.expose().as_bytes(), &hash) {
        Ok(()) => Ok(true),
        Err(Error::Password) => Ok(false),
        Err(error) => broken(error).into_err(),
    }
}

impl Unhashed {
    fn into_err<T>(self) -> Result<T, Self> {
        Err(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHEAP: PasswordCost = PasswordCost { memory_kib: 64, passes: 1 };

    fn secret(text: &str) -> Secret<String> {
        Secret::new(text.to_owned())
    }

    #[test]
    fn the_rules_name_the_field_and_the_fix() {
        let email = "ada.lovelace@example.org";
        for (password, says) in [
            ("", "at least 12"),
            ("elevenchars", "has 11 characters"),
            (&"x".repeat(1_001), "more than 1000"),
            (" Ada.Lovelace@Example.org", "is the e-mail address"),
        ] {
            let error = checked(&secret(password), email).unwrap_err().to_string();
            assert!(error.starts_with("`password`") && error.contains(says), "{error}");
        }
        for password in ["twelve chars", "ÄÖÜäöüßÄÖÜäö", &"🦀".repeat(1_000), "aaaaaaaaaaaa"]
        {
            checked(&secret(password), email).unwrap();
        }
    }

    #[tokio::test]
    async fn a_hash_is_the_passwords_and_says_what_it_cost() {
        let passwords = Passwords::new(CHEAP);
        let password = secret("correct horse battery staple");
        let hash = passwords.hash(&password).await.unwrap();
        assert!(hash.expose().starts_with("$argon2id$v=19$m=64,t=1,p=1$"));
        assert_ne!(passwords.hash(&password).await.unwrap(), hash, "each has its salt");
        let (somebodys, nobodys) = (hash.expose(), passwords.of_nobody.expose());
        assert_eq!(somebodys.len(), nobodys.len(), "nobody's costs as much");
        assert_eq!(somebodys.rsplit('$').next().map(str::len), Some(43), "256 bits");
        assert!(passwords.fits(&password, Some(&hash)).await.unwrap());
        assert!(!passwords.fits(&secret("another password"), Some(&hash)).await.unwrap());
        assert!(!passwords.fits(&password, None).await.unwrap(), "nobody's");
        assert!(!passwords.fits(&secret(&"x".repeat(5_000)), Some(&hash)).await.unwrap());
        // A later version may ask for more; what is there goes on.
        let dearer = Passwords::new(PasswordCost { memory_kib: 128, passes: 2 });
        assert!(dearer.fits(&password, Some(&hash)).await.unwrap());
        let broken = secret("$argon2id$v=19$m=64");
        let error = passwords.fits(&password, Some(&broken)).await.unwrap_err().to_string();
        assert!(error.contains("malformed") && !error.contains("m=64"), "{error}");
        assert_eq!(format!("{passwords:?} {hash:?}").matches("argon").count(), 0);
    }

    #[test]
    fn the_default_is_what_owasp_says() {
        assert_eq!(PasswordCost::default(), PasswordCost { memory_kib: 19_456, passes: 2 });
        let of_nobody = Passwords::new(PasswordCost::default()).of_nobody;
        assert!(!fits(&secret("x"), &of_nobody).unwrap());
    }

    #[tokio::test]
    async fn the_queue_has_an_end() {
        let passwords = Passwords::new(CHEAP);
        let (go, wait) = std::sync::mpsc::channel::<()>();
        let wait = Arc::new(std::sync::Mutex::new(wait));
        let blocked: Vec<_> = (0..MOST_WAITING)
            .map(|_| {
                let (passwords, wait) = (passwords.clone(), wait.clone());
                tokio::spawn(async move {
                    let work = move || wait.lock().unwrap().recv().unwrap_or(());
                    passwords.compute(work).await
                })
            })
            .collect();
        while passwords.queue.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        let error = passwords.hash(&secret("x")).await.unwrap_err();
        assert!(matches!(error, Unhashed::Busy), "{error}");
        drop(go);
        for task in blocked {
            task.await.unwrap().unwrap();
        }
        passwords.hash(&secret("x")).await.unwrap();
    }
}
