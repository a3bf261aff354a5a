// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"
#include "engine/checkpoint/gguf/gguf_file.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::model {

/// The keys of a GGUF file that describe its model. Their names begin with the architecture, which is added
/// here. Each getter throws Failure for values outside of the range, and for missing ones without a default.
class GgufKeys {
 public:
  /// `file` must outlive this object.
  GgufKeys(const checkpoint::GgufFile& file, std::string architecture)
      : m_file(file), m_architecture(std::move(architecture)) {}

  const checkpoint::GgufFile& file() const { return m_file; }
  std::string name(const std::string& key) const { return m_architecture + "." + key; }
  Failure fail(const std::string& key, std::string found, std::string expected) const;

  bool has(const std::string& key) const { return metadata().integer(name(key)) != nullptr; }
  /// 1 to `most`
  std::int64_t integer(const std::string& key, std::int64_t most,
                       std::optional<std::int64_t> otherwise = {}) const;
  /// Of a key that files may have with 0 for no window; 0 without the key.
  std::int32_t window() const;
  double number(const std::string& key, double least, double most, double otherwise) const;
  const std::string* text(const std::string& key) const { return metadata().text(name(key)); }
  bool hasTensor(const std::string& tensor) const { return m_file.tensors().contains(tensor); }
  /// The values of a small tensor in F32 of so many elements, each finite and above 0; empty if there is no
  /// such tensor.
  std::vector<float> factors(const std::string& tensor, std::int64_t count) const;

 private:
  const checkpoint::GgufMetadata& metadata() const { return m_file.metadata(); }

  const checkpoint::GgufFile& m_file;
  std::string m_architecture;
};

}  // namespace spanscope::model
