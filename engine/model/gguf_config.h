// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/error.h"
#include "engine/checkpoint/gguf/gguf_file.h"

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::model {

struct ModelConfig;

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

  bool has(const std::string& key) const { return metadata().values().contains(name(key)); }
  /// 1 to `most`
  std::int64_t integer(const std::string& key, std::int64_t most,
                       std::optional<std::int64_t> otherwise = {}) const;
  /// 0 to `most`; 0 without the key
  std::int64_t count(const std::string& key, std::int64_t most) const;
  /// 0: no window
  std::int32_t window() const;
  /// By layer, whether it has the window, where the file has one. `attention.sliding_window_pattern` is a
  /// list of one entry for each layer, or a period: the last layer of each period has no window, and with 0
  /// all layers have one. Without the key the period is `otherwise`.
  std::vector<bool> windowedLayers(std::int32_t layers, std::int64_t otherwise) const;
  double number(const std::string& key, double least, double most, double otherwise) const;
  /// A number that counts as absent where it is 0.
  double numberOr(const std::string& key, double otherwise, double least, double most) const;
  const std::string* text(const std::string& key) const { return metadata().text(used(key)); }
  bool flag(const std::string& key, bool otherwise) const;
  bool hasTensor(const std::string& tensor) const { return m_file.tensors().contains(tensor); }
  /// The values of a small tensor in F32 of so many elements, each finite and above 0; empty if there is no
  /// such tensor.
  std::vector<float> factors(const std::string& tensor, std::int64_t count) const;

  /// Throws Failure for the first key of the architecture that no getter above was asked for, unless the key
  /// is known to change nothing in a model of this configuration.
  void refuseUnused(const ModelConfig& config) const;

 private:
  /// The whole name of a key that the caller uses.
  std::string used(const std::string& key) const;
  const checkpoint::GgufMetadata& metadata() const { return m_file.metadata(); }

  const checkpoint::GgufFile& m_file;
  std::string m_architecture;
  mutable std::set<std::string> m_used;  ///< whole names
};

}  // namespace spanscope::model
