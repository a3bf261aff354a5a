// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/hmac.h"

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>

namespace spanscope {
namespace {

struct FreeContext {
  void operator()(EVP_MAC_CTX* context) const { EVP_MAC_CTX_free(context); }
};
struct FreeMac {
  void operator()(EVP_MAC* mac) const { EVP_MAC_free(mac); }
};
using Context = std::unique_ptr<EVP_MAC_CTX, FreeContext>;

void require(bool isDone) {
  if (!isDone) throw std::runtime_error("OpenSSL cannot work out an HMAC");
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
  // Without a key that is there, even an empty one, the library keeps the one before.
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
