// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/hash.h"

#include "engine/base/error.h"
#include "engine/base/utf8.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <stdexcept>
#include <utility>

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace spanscope {

std::string Hash128::hex() const {
  std::string text;
  for (const std::uint64_t half : {high, low}) appendHex(text, half, 16);
  return text;
}

Hash128 hash128(std::span<const std::uint8_t> bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.high = hash.high64, .low = hash.low64};
}

Hash128 hash128(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {.high = hash.high64, .low = hash.low64};
}

std::uint64_t hash64(std::string_view bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

std::uint64_t checksum64(std::span<const std::uint8_t> bytes, std::uint64_t seed) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

std::uint64_t checksum64(std::string_view bytes, std::uint64_t seed) {
  return XXH64(bytes.data(), bytes.size(), seed);
}

struct Digest::State {
  XXH3_state_t* state = XXH3_createState();

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  State(State&&) = delete;
  State& operator=(State&&) = delete;
  ~State() { XXH3_freeState(state); }
};

Digest::Digest() : m_state(std::make_unique<State>()) {
  if (m_state->state == nullptr)
    throw Failure({.file = {}, .place = {}, .found = "too little memory", .expected = "memory for a hash"});
  XXH3_128bits_reset(m_state->state);
}

Digest::~Digest() = default;

void Digest::add(std::span<const std::byte> bytes) {
  const std::uint64_t size = bytes.size();
  XXH3_128bits_update(m_state->state, &size, sizeof size);
  XXH3_128bits_update(m_state->state, bytes.data(), bytes.size());
}

Hash128 Digest::value() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(m_state->state);
  return {.high = hash.high64, .low = hash.low64};
}

Sha256Value sha256(std::span<const std::uint8_t> bytes) {
  Sha256Value value{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), value.data(), &size, EVP_sha256(), nullptr) != 1 ||
      size != value.size())
    throw std::runtime_error("OpenSSL cannot compute a SHA-256");
  return value;
}

namespace {

struct FreeContext {
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
struct FreeMac {
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
};
using Context = std::unique_ptr<EVP_MAC_CTX, FreeContext>;

void require(bool isDone) {
  if (!isDone) throw std::runtime_error("OpenSSL cannot compute an HMAC");
}

}  // namespace

struct Hmac::Keyed {
  Context context;
};

Hmac::Hmac(std::span<const std::uint8_t> secret) {
  const std::unique_ptr<EVP_MAC, FreeMac> mac(EVP_MAC_fetch(nullptr, "HMAC", nullptr));
  require(mac != nullptr);
  Context context(EVP_MAC_CTX_new(mac.get()));
  require(context != nullptr);
  std::string digest = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest.data(), digest.size()),
      OSSL_PARAM_construct_end()};
  // The library keeps the previous key unless a new key is set. A null pointer does not set an empty key.
  static constexpr std::uint8_t kNothing = 0;
  const std::uint8_t* const key = secret.empty() ? &kNothing : secret.data();
  require(EVP_MAC_init(context.get(), key, secret.size(), parameters) == 1);
  m_keyed = std::make_shared<const Keyed>(Keyed{std::move(context)});
}

Sha256Value Hmac::operator()(std::span<const std::uint8_t> bytes) const {
  const Context context(EVP_MAC_CTX_dup(m_keyed->context.get()));
  require(context != nullptr);
  require(EVP_MAC_update(context.get(), bytes.data(), bytes.size()) == 1);
  Sha256Value value{};
  std::size_t size = 0;
  require(EVP_MAC_final(context.get(), value.data(), &size, value.size()) == 1 && size == value.size());
  return value;
}

}  // namespace spanscope
