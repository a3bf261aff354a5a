// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/compute/backend.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace spanscope::model {

/// What an adapter adds to one matrix: up · down, of low rank.
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
/// adapter_model.safetensors. A row of a product with an adapted matrix W is x · Wᵀ + (x · downᵀ) · upᵀ: the
/// weights of the model stay what they are, in whatever format they have.
class Adapter {
 public:
  /// Reads all of it. Throws Failure for what is missing or damaged, and for kinds of adapters that do more
  /// than that.
  static Adapter open(const std::filesystem::path& directory);

  const std::string& name() const { return m_name; }
  const std::filesystem::path& directory() const { return m_directory; }
  /// By the name of the matrix: "model.layers.0.self_attn.q_proj".
  const std::map<std::string, LowRankPair>& pairs() const { return m_pairs; }
  bool blockAttention() const { return m_blockAttention; }
  /// Of everything that is in it.
  const std::string& fingerprint() const { return m_fingerprint; }
  std::int64_t elements() const;
  /// The same adapter, its pairs written otherwise.
  Adapter withPairs(std::map<std::string, LowRankPair> pairs) const;

 private:
  std::filesystem::path m_directory;
  std::string m_name;
  std::map<std::string, LowRankPair> m_pairs;
  bool m_blockAttention = false;
  std::string m_fingerprint;
};

}  // namespace spanscope::model
