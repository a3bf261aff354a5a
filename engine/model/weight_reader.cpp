// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/weight_reader.h"

#include "engine/base/counted.h"
#include "engine/base/error.h"
#include "engine/checkpoint/json_reading.h"
#include "engine/compute/dtype.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <system_error>

namespace spanscope::model {

namespace {

/// Bytes that are hashed and checked together, so that each byte is read from memory once.
constexpr std::int64_t kPieceBytes = 256 << 10;

}  // namespace

WeightReader::WeightReader(const WeightSource& source, int threads, bool hashes)
    : m_source(source), m_most(static_cast<std::size_t>(std::max(1, threads))), m_hashes(hashes) {}

WeightReader::~WeightReader() {
  {
    const std::lock_guard lock(m_mutex);
    m_isEnding = true;
    m_next = m_tensors.size();  // tensors that no caller waits for are not read
  }
  m_changed.notify_all();
  for (std::thread& thread : m_threads) thread.join();
}

void WeightReader::add(const std::string& name, const compute::HostMatrix& matrix) {
  if (m_isFaulty) throwFirst();
  if (m_threads.size() < m_most) {
    try {
      m_threads.emplace_back([this] { work(); });
    } catch (const std::system_error&) {  // the system has no further thread
    }
  }
  const std::lock_guard lock(m_mutex);
  Tensor& tensor = m_tensors.emplace_back(Tensor{name, matrix, {}, {}});
  if (m_threads.empty()) {
    ++m_next;
    read(tensor);
    m_isFaulty = m_isFaulty || tensor.fault.has_value();
  }
  m_changed.notify_one();
}

void WeightReader::finish() {
  {
    const std::lock_guard lock(m_mutex);
    m_isEnding = true;
  }
  m_changed.notify_all();
  for (std::thread& thread : m_threads) thread.join();
  m_threads.clear();
  throwFirst();
}

std::string WeightReader::digest() const {
  if (!m_hashes) return {};
  Digest all;
  for (const Tensor& tensor : m_tensors) {
    all.add(tensor.name);
    all.add(tensor.hash.hex());
  }
  return all.value().hex();
}

void WeightReader::read(Tensor& tensor) const {
  const compute::HostMatrix& matrix = tensor.matrix;
  const auto rowBytes = static_cast<std::int64_t>(matrix.rowBytes());
  const std::int64_t rows =
      std::clamp<std::int64_t>(kPieceBytes / std::max<std::int64_t>(1, rowBytes), 1, matrix.rows);
  Digest digest;
  for (std::int64_t row = 0; row < matrix.rows; row += rows) {
    compute::HostMatrix piece = matrix;
    piece.data = matrix.row(row);
    piece.rows = std::min(rows, matrix.rows - row);
    if (m_hashes) digest.add({piece.data, piece.bytes()});
    const std::optional<NotFinite> found = findNotFinite(piece);
    if (!found) continue;
    const std::size_t index = static_cast<std::size_t>(row * matrix.columns) + found->index;
    tensor.fault = Error{fileOf(m_source, tensor.name), tensor.name,
                         std::string(describe(*found)) + " at the index " + std::to_string(index),
                         "finite numbers: the file is damaged"};
    return;
  }
  if (m_hashes) tensor.hash = digest.value();
}

void WeightReader::work() {
  while (true) {
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_isEnding || m_next < m_tensors.size(); });
    if (m_next >= m_tensors.size()) return;
    Tensor& tensor = m_tensors[m_next++];
    lock.unlock();
    read(tensor);
    if (tensor.fault) m_isFaulty = true;
  }
}

/// Waits for earlier readers, so that the error names the first of several faults.
void WeightReader::throwFirst() {
  if (!m_threads.empty()) return finish();
  m_source.requireWhole();
  for (const Tensor& tensor : m_tensors) {
    if (tensor.fault) throw Failure(*tensor.fault);
  }
}

namespace {

/// Elements that are checked together: enough for vector instructions to pay off.
constexpr std::size_t kChunk = 2048;

/// Whether one of the chunk's elements has all bits of `exponent` set. IEEE formats write values that are not
/// finite in this way. The loop has no branch, so that a compiler can vectorize the loop.
template <class Bits>
bool anyNotFinite(const std::byte* data, Bits exponent) {
  Bits found = 0;
  for (std::size_t i = 0; i < kChunk; ++i) {
    Bits element = 0;
    std::memcpy(&element, data + i * sizeof(Bits), sizeof(Bits));
    found |= static_cast<Bits>((element & exponent) == exponent ? 1 : 0);
  }
  return found != 0;
}

template <class Bits>
std::optional<std::size_t> firstNotFinite(const std::byte* data, std::size_t count, Bits exponent) {
  std::size_t index = 0;
  while (index + kChunk <= count && !anyNotFinite(data + index * sizeof(Bits), exponent)) index += kChunk;
  for (; index < count; ++index) {
    Bits element = 0;
    std::memcpy(&element, data + index * sizeof(Bits), sizeof(Bits));
    if ((element & exponent) == exponent) return index;
  }
  return std::nullopt;
}

/// In a packed format, only the factors of a block can be non-finite.
std::optional<NotFinite> findInBlocks(const compute::HostMatrix& matrix) {
  const compute::WeightFormatInfo& info = compute::infoOf(matrix.format);
  const std::int64_t blocks = matrix.rows * (matrix.columns / info.blockElements);
  const std::optional<std::int64_t> block = compute::findBlockNotFinite(matrix.format, matrix.data, blocks);
  if (!block) return std::nullopt;
  std::vector<float> values(static_cast<std::size_t>(info.blockElements));
  compute::widen(matrix.format, matrix.data + *block * info.blockBytes, info.blockElements, values.data());
  const auto found = std::ranges::find_if(values, [](float value) { return !std::isfinite(value); });
  // A non-finite factor may have only codes of zero. The block is wrong even then.
  const auto within = found == values.end() ? 0 : found - values.begin();
  return NotFinite{static_cast<std::size_t>(*block * info.blockElements + within),
                   std::numeric_limits<float>::quiet_NaN()};
}

}  // namespace

std::optional<NotFinite> findNotFinite(const compute::HostMatrix& matrix) {
  const std::byte* data = matrix.data;
  const std::size_t count = static_cast<std::size_t>(matrix.rows) * static_cast<std::size_t>(matrix.columns);
  std::optional<std::size_t> index;
  switch (matrix.format) {
    case compute::WeightFormat::F32:
      index = firstNotFinite<std::uint32_t>(data, count, 0x7F800000U);
      break;
    case compute::WeightFormat::F16:
      index = firstNotFinite<std::uint16_t>(data, count, 0x7C00U);
      break;
    case compute::WeightFormat::BF16:
      index = firstNotFinite<std::uint16_t>(data, count, 0x7F80U);
      break;
    default:
      return findInBlocks(matrix);
  }
  if (!index) return std::nullopt;
  const compute::DType type = *compute::dtypeOf(matrix.format);
  return NotFinite{*index, compute::loadElement(data + *index * compute::sizeOf(type), type)};
}

std::optional<NotFinite> findNotFinite(std::span<const float> values) {
  return findNotFinite(compute::HostMatrix{std::as_bytes(values).data(), compute::WeightFormat::F32, 1,
                                           static_cast<std::int64_t>(values.size())});
}

const char* describe(const NotFinite& found) {
  return std::isnan(found.value) ? "nan" : "an infinite number";
}

void checkNumbers(const ModelConfig& config, const WeightSource& source, int threads) {
  WeightReader reader(source, threads, false);
  for (const NamedTensor& tensor : tensorsOf(config))
    reader.add(tensor.name, source.get(tensor.name, tensor.rows, tensor.columns));
  reader.finish();
}

NormNames normsOf(NormPlace place) {
  switch (place) {
    case NormPlace::Before:
      return {.beforeAttention = "input_layernorm", .beforeGate = "post_attention_layernorm"};
    case NormPlace::After:
      return {.afterAttention = "post_attention_layernorm", .afterGate = "post_feedforward_layernorm"};
    case NormPlace::AroundParts:
      return {.beforeAttention = "input_layernorm",
              .afterAttention = "post_self_attn_layernorm",
              .beforeGate = "post_attention_layernorm",
              .afterGate = "post_mlp_layernorm"};
    case NormPlace::Shared:
      return {.beforeAttention = "input_layernorm"};
    case NormPlace::Around:
      break;
  }
  return {.beforeAttention = "input_layernorm",
          .afterAttention = "post_attention_layernorm",
          .beforeGate = "pre_feedforward_layernorm",
          .afterGate = "post_feedforward_layernorm"};
}

std::string expertName(std::int32_t expert) {
  return "mlp.experts." + std::to_string(expert) + ".";
}

double productsOf(const ModelConfig& config) {
  double products = 0;
  for (const NamedTensor& tensor : tensorsOf(config)) {
    const bool isOfLayers =
        tensor.name.starts_with("model.layers.") || tensor.name.starts_with("model.per_layer_");
    if (!isOfLayers || !tensor.isMatrix()) continue;
    const double share = tensor.isOfExpert ? static_cast<double>(config.experts.choice.used) /
                                                 static_cast<double>(config.experts.count)
                                           : 1;
    products += share * static_cast<double>(tensor.rows) * static_cast<double>(tensor.columns);
  }
  return products;
}

std::int64_t gatedRowsOf(const ModelConfig& config) {
  std::int64_t most = 0;
  for (const NamedTensor& tensor : tensorsOf(config)) {
    if (!tensor.isOfExpert && tensor.name.ends_with(".up_proj.weight")) most = std::max(most, tensor.rows);
  }
  return most;
}

namespace {

struct Extra {
  std::string_view before;   ///< the name up to the number of a layer, or all of it
  std::string_view after;    ///< the name after that number; empty without one
  bool onlyTied = false;     ///< known only where the embeddings are tied
  bool onlySharing = false;  ///< known only in layers without keys and values
};

constexpr std::array kExtras = {
    // transformers before 4.32 saved the frequencies of the rotary embedding with every layer. Some later
    // versions save the frequencies once. Spanscope computes the frequencies from the configuration.
    Extra{"model.layers.", ".self_attn.rotary_emb.inv_freq"},
    Extra{"model.rotary_emb.inv_freq", ""},
    // Some trainers also saved their tables of cosines and sines.
    Extra{"model.layers.", ".self_attn.rotary_emb.cos_cached"},
    Extra{"model.layers.", ".self_attn.rotary_emb.sin_cached"},
    // The same table under its second name. Some writers store shared tables twice.
    Extra{"lm_head.weight", "", true},
    // Files have these matrices for all layers.
    Extra{"model.layers.", ".self_attn.k_proj.weight", false, true},
    Extra{"model.layers.", ".self_attn.v_proj.weight", false, true},
    Extra{"model.layers.", ".self_attn.k_norm.weight", false, true},
};

constexpr std::array<std::string_view, 16> kOtherParts = {"vision_tower.",
                                                          "vision_model.",
                                                          "visual.",
                                                          "vision_embed_tokens.",
                                                          "multi_modal_projector.",
                                                          "mm_projector.",
                                                          "audio_tower.",
                                                          "audio_model.",
                                                          "embed_vision.",
                                                          "embed_audio.",
                                                          "mtp.",
                                                          "score.",
                                                          "classifier.",
                                                          "v_head.",
                                                          "value_head.",
                                                          "pooler."};

/// Whether the text is the number of a layer from `first` on, as names write it.
bool isLayer(std::string_view text, std::int32_t first, std::int32_t layers) {
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= first && number < layers;
}

bool fits(const Extra& extra, std::string_view name, const ModelConfig& config) {
  if (extra.onlyTied && !config.tiedEmbeddings) return false;
  if (extra.after.empty()) return name == extra.before;
  if (!name.starts_with(extra.before) || !name.ends_with(extra.after)) return false;
  if (name.size() < extra.before.size() + extra.after.size()) return false;
  name.remove_prefix(extra.before.size());
  name.remove_suffix(extra.after.size());
  return isLayer(name, extra.onlySharing ? config.storingLayers() : 0, config.layers);
}

}  // namespace

bool isKnownExtra(std::string_view name, const ModelConfig& config) {
  return std::ranges::any_of(kExtras, [&](const Extra& extra) { return fits(extra, name, config); });
}

bool isOfOtherPart(std::string_view name) {
  constexpr std::string_view kDecoder = "model.";
  if (name.starts_with(kDecoder)) name.remove_prefix(kDecoder.size());
  return std::any_of(kOtherParts.begin(), kOtherParts.end(),
                     [name](std::string_view part) { return name.starts_with(part); });
}

std::vector<std::string> tensorsOfOtherParts(const WeightSource& source) {
  std::vector<std::string> names;
  for (const StoredTensor& tensor : source.stored()) {
    if (isOfOtherPart(tensor.name)) names.push_back(tensor.name);
  }
  return names;
}

void refuseSurplus(const ModelConfig& config, const WeightSource& source, const std::set<std::string>& used) {
  constexpr std::size_t kNamed = 4;
  std::vector<StoredTensor> surplus = source.stored();
  std::erase_if(surplus, [&](const StoredTensor& tensor) {
    return used.contains(tensor.name) || isKnownExtra(tensor.name, config) || isOfOtherPart(tensor.name);
  });
  if (surplus.empty()) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(kNamed, surplus.size()); ++i)
    names += (names.empty() ? "" : ", ") + checkpoint::inQuotes(surplus[i].name);
  if (surplus.size() > kNamed) names += " and " + std::to_string(surplus.size() - kNamed) + " more";
  throw Failure({surplus.front().file, "",
                 (surplus.size() == 1 ? "a tensor that the model does not use: "
                                      : /*id:tensors-model-no*/ "tensors that the model does not use: ") +
                     names,
                 "only the tensors that config.json describes: " + config.architecture + " with " +
                     counted(config.layers, "layer")});
}

}  // namespace spanscope::model
