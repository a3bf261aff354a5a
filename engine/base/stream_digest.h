// SPDX-License-Identifier: GPL-3.0-or-later
// Hashes data that arrives in pieces, such as a file during its download, with SHA-1 or SHA-256 by OpenSSL.
// Open this file to check a file against a hash that another program published. SHA-1 only names objects of
// git; it does not resist deliberate collisions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace spanscope {

class StreamDigest {
 public:
  enum class Kind : std::uint8_t { Sha1, Sha256 };

  /// All functions throw std::runtime_error if the library refuses, e.g. because memory is short.
  explicit StreamDigest(Kind kind);
  ~StreamDigest();
  StreamDigest(const StreamDigest&) = delete;
  StreamDigest& operator=(const StreamDigest&) = delete;
  StreamDigest(StreamDigest&&) noexcept;
  StreamDigest& operator=(StreamDigest&&) noexcept;

  void add(std::string_view bytes);
  /// The hash of all pieces in lower-case hexadecimal digits: 40 or 64. Pieces may follow.
  std::string hex() const;

 private:
  struct State;
  std::unique_ptr<State> m_state;
};

}  // namespace spanscope
