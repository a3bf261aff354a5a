// SPDX-License-Identifier: GPL-3.0-or-later
// Reads the keys of a GGUF file that describe its model. Open this file when a GGUF file is refused because
// of a key.
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

/// The keys of a GGUF file that describe its model. The names of these keys begin with the architecture,
/// which this class adds. Each getter throws Failure for values outside of the range, and for missing values
/// without a default.
class GgufKeys {
 public:
  /// `file` must outlive this object.
  GgufKeys(const checkpoint::GgufFile& file, std::string architecture)
      : m_file(file), m_architecture(std::move(architecture)) {}

  const checkpoint::GgufFile& file() const { return m_file; }
  std::string name(const std::string& key) const { return m_architecture + "." + key; }
  Failure fail(const std::string& key, std::string found, std::string expected) const;

  bool has(const std::string& key) const { return metadata().values().contains(name(key)); }
  /// Returns the value of the key, from 1 to `most`.
  std::int64_t integer(const std::string& key, std::int64_t most,
                       std::optional<std::int64_t> otherwise = {}) const;
  /// Returns the number of each layer, from 1 to `most`. The key has a list, or one number for all layers.
  std::vector<std::int64_t> byLayer(const std::string& key, std::int64_t most, std::int32_t layers,
                                    std::optional<std::int64_t> otherwise = {}) const;
  /// Returns the number that the key gives the first layer. If the key has a list of different numbers, the
  /// family must read the key with byLayer(). Otherwise refuseUnused() refuses the list.
  std::int64_t ofFirst(const std::string& key, std::int64_t most, std::int32_t layers,
                       std::optional<std::int64_t> otherwise = {}) const;
  /// Returns the value of the key, from 0 to `most`. Returns 0 without the key.
  std::int64_t count(const std::string& key, std::int64_t most) const;
  /// Returns the size of the window, or 0 if there is no window.
  std::int32_t window() const;
  /// Returns for each layer whether the layer has the window of the file. The key
  /// `attention.sliding_window_pattern` has one of two forms:
  /// - a list with one entry for each layer;
  /// - a period: the last layer of each period has no window. With period 0, all layers have a window.
  ///
  /// Without the key the period is `otherwise`.
  std::vector<bool> windowedLayers(std::int32_t layers, std::int64_t otherwise) const;
  double number(const std::string& key, double least, double most, double otherwise) const;
  /// Returns a number. 0 counts as absent.
  double numberOr(const std::string& key, double otherwise, double least, double most) const;
  const std::string* text(const std::string& key) const { return metadata().text(used(key)); }
  bool flag(const std::string& key, bool otherwise) const;
  bool hasTensor(const std::string& tensor) const { return m_file.tensors().contains(tensor); }
  /// Returns the `count` values of a small tensor in F32, each finite and above 0. Empty if there is no such
  /// tensor.
  std::vector<float> factors(const std::string& tensor, std::int64_t count) const;

  /// Throws Failure for the first key of the architecture that no getter has read. Keys without effect in a
  /// model of this configuration are allowed.
  void refuseUnused(const ModelConfig& config) const;

 private:
  /// Returns the whole name of a key, and notes that it is used.
  std::string used(const std::string& key) const;
  const checkpoint::GgufMetadata& metadata() const { return m_file.metadata(); }

  const checkpoint::GgufFile& m_file;
  std::string m_architecture;
  mutable std::set<std::string> m_used;   ///< whole names
  mutable std::set<std::string> m_lists;  ///< keys with a list of different numbers that no family has read
};

}  // namespace spanscope::model
