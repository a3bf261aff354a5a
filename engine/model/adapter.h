// SPDX-License-Identifier: GPL-3.0-or-later
// Reads LoRA adapters. Open this file when an adapter is refused or gives wrong results.
#pragma once

#include "engine/compute/backend.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace spanscope::model {

/// The product up · down, of low rank, that an adapter adds to one matrix.
struct LowRankPair {
  std::vector<float> down;  ///< [rank][columns]
  std::vector<float> up;    ///< [rows][rank], with the adapter's scale
  std::int64_t rank = 0;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  compute::HostMatrix downMatrix() const;
  compute::HostMatrix upMatrix() const;
};

/// A LoRA adapter (arXiv 2106.09685) in the layout of PEFT: a directory with adapter_config.json and
/// adapter_model.safetensors. A row of a product with an adapted matrix W is x · Wᵀ + (x · downᵀ) · upᵀ. The
/// weights of the model do not change, in any format.
class Adapter {
 public:
  /// Reads the whole adapter. Throws Failure if something is missing or damaged, and for adapters that do
  /// more than the sum above.
  static Adapter open(const std::filesystem::path& directory);

  const std::string& name() const { return m_name; }
  const std::filesystem::path& directory() const { return m_directory; }
  /// Returns the pairs of matrices by the name of the adapted matrix: "model.layers.0.self_attn.q_proj".
  const std::map<std::string, LowRankPair>& pairs() const { return m_pairs; }
  bool blockAttention() const { return m_blockAttention; }
  /// Returns the fingerprint of all contents.
  const std::string& fingerprint() const { return m_fingerprint; }
  std::int64_t elements() const;
  /// Returns the same adapter with other pairs.
  Adapter withPairs(std::map<std::string, LowRankPair> pairs) const;

 private:
  std::filesystem::path m_directory;
  std::string m_name;
  std::map<std::string, LowRankPair> m_pairs;
  bool m_blockAttention = false;
  std::string m_fingerprint;
};

}  // namespace spanscope::model
