// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/sha256.h"

#include <openssl/evp.h>

#include <stdexcept>

namespace spanscope {

Sha256Value sha256(std::span<const std::uint8_t> bytes) {
  Sha256Value value{};
  unsigned size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), value.data(), &size, EVP_sha256(), nullptr) != 1 ||
      size != value.size())
    throw std::runtime_error("OpenSSL cannot work out a SHA-256");
  return value;
}

}  // namespace spanscope
