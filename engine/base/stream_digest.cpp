// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/stream_digest.h"

#include <openssl/evp.h>

#include <array>
#include <stdexcept>

namespace spanscope {
namespace {

struct FreeContext {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Context = std::unique_ptr<EVP_MD_CTX, FreeContext>;

void require(bool isDone) {
  if (!isDone) throw std::runtime_error("OpenSSL cannot compute a hash");
}

}  // namespace

struct StreamDigest::State {
  Context context{EVP_MD_CTX_new()};
};

StreamDigest::StreamDigest(Kind kind) : m_state(std::make_unique<State>()) {
  require(m_state->context != nullptr &&
          EVP_DigestInit_ex(m_state->context.get(), kind == Kind::Sha1 ? EVP_sha1() : EVP_sha256(),
                            nullptr) == 1);
}

StreamDigest::~StreamDigest() = default;
StreamDigest::StreamDigest(StreamDigest&&) noexcept = default;
StreamDigest& StreamDigest::operator=(StreamDigest&&) noexcept = default;

void StreamDigest::add(std::string_view bytes) {
  require(EVP_DigestUpdate(m_state->context.get(), bytes.data(), bytes.size()) == 1);
}

std::string StreamDigest::hex() const {
  const Context copy(EVP_MD_CTX_new());
  std::array<unsigned char, EVP_MAX_MD_SIZE> value{};
  unsigned size = 0;
  require(copy != nullptr && EVP_MD_CTX_copy_ex(copy.get(), m_state->context.get()) == 1 &&
          EVP_DigestFinal_ex(copy.get(), value.data(), &size) == 1);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += kDigits[value.at(i) >> 4U];
    text += kDigits[value.at(i) & 15U];
  }
  return text;
}

}  // namespace spanscope
