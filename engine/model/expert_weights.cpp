// SPDX-License-Identifier: GPL-3.0-or-later
// Splits the stacks in which files store the matrices of all experts of a layer.
#include "engine/base/error.h"
#include "engine/compute/weight_format/weight_format.h"
#include "engine/model/weight_reader.h"
#include "engine/model/weights.h"

#include <array>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

namespace spanscope::model {
namespace {

/// The arrangement of a stack. A stack has `parts` tensors of each expert, such as gate and up.
enum class StackLayout : std::uint8_t {
  Rows,     ///< [experts][parts][rows][columns]
  Columns,  ///< [experts][columns][rows][parts]; a vector is [experts][columns][parts]
  Blocks    ///< MXFP4 as Hugging Face stores it: [experts][rows][parts][blocks][16], and the exponents apart
};

struct Stack {
  std::string_view stored;  ///< the name in a layer
  std::string_view tensor;  ///< the tensor of an expert
  StackLayout layout = StackLayout::Rows;
  std::int64_t part = 0;
  std::int64_t parts = 1;
  bool isShared = false;  ///< the only expert of the stack is the one that all tokens use
};

constexpr std::string_view kBlocks = "_blocks";
constexpr std::string_view kExponents = "_scales";

/// The gated product that all tokens use, as the decoder names it.
constexpr const char* kShared = "mlp.shared_experts.";

constexpr std::array kStacks = {
    // GGUF files, by the names of gguf_weights.cpp.
    Stack{"mlp.experts.gate_proj.weight", "gate_proj.weight"},
    Stack{"mlp.experts.up_proj.weight", "up_proj.weight"},
    Stack{"mlp.experts.down_proj.weight", "down_proj.weight"},
    Stack{"mlp.experts.gate_proj.bias", "gate_proj.bias"}, Stack{"mlp.experts.up_proj.bias", "up_proj.bias"},
    Stack{"mlp.experts.down_proj.bias", "down_proj.bias"},
    // Granite.
    Stack{"block_sparse_moe.input_linear.weight", "gate_proj.weight", StackLayout::Rows, 0, 2},
    Stack{"block_sparse_moe.input_linear.weight", "up_proj.weight", StackLayout::Rows, 1, 2},
    Stack{"block_sparse_moe.output_linear.weight", "down_proj.weight"},
    Stack{"shared_mlp.input_linear.weight", "gate_proj.weight", StackLayout::Rows, 0, 2, true},
    Stack{"shared_mlp.input_linear.weight", "up_proj.weight", StackLayout::Rows, 1, 2, true},
    Stack{"shared_mlp.output_linear.weight", "down_proj.weight", StackLayout::Rows, 0, 1, true},
    // gpt-oss.
    Stack{"mlp.experts.gate_up_proj", "gate_proj.weight", StackLayout::Columns, 0, 2},
    Stack{"mlp.experts.gate_up_proj", "up_proj.weight", StackLayout::Columns, 1, 2},
    Stack{"mlp.experts.down_proj", "down_proj.weight", StackLayout::Columns},
    Stack{"mlp.experts.gate_up_proj_bias", "gate_proj.bias", StackLayout::Columns, 0, 2},
    Stack{"mlp.experts.gate_up_proj_bias", "up_proj.bias", StackLayout::Columns, 1, 2},
    Stack{"mlp.experts.down_proj_bias", "down_proj.bias", StackLayout::Columns},
    Stack{"mlp.experts.gate_up_proj_blocks", "gate_proj.weight", StackLayout::Blocks, 0, 2},
    Stack{"mlp.experts.gate_up_proj_blocks", "up_proj.weight", StackLayout::Blocks, 1, 2},
    Stack{"mlp.experts.down_proj_blocks", "down_proj.weight", StackLayout::Blocks}};

/// Other names of tensors in a layer.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kRenamed = {
    {{"block_sparse_moe.router.layer.weight", "mlp.gate.weight"},
     {"mlp.router.weight", "mlp.gate.weight"},
     {"mlp.router.bias", "mlp.gate.bias"},
     {"self_attn.sinks", kSinks}}};

class ExpertWeights final : public WeightSource {
 public:
  ExpertWeights(std::unique_ptr<WeightSource> source, const ModelConfig& config)
      : m_source(std::move(source)), m_experts(config.experts.count) {
    for (const StoredTensor& tensor : m_source->stored()) add(tensor);
  }

  bool has(const std::string& name) const override {
    return find(name) != nullptr || m_source->has(nameOf(name));
  }

  compute::WeightFormat formatOf(const std::string& name, std::int64_t rows,
                                 std::int64_t columns) const override {
    const Place* const place = find(name);
    if (place == nullptr) return m_source->formatOf(nameOf(name), rows, columns);
    if (place->stack->layout == StackLayout::Blocks) {
      blocksOf(*place, rows, columns);
      return compute::WeightFormat::MXFP4;
    }
    const auto [wholeRows, wholeColumns] = shapeOf(*place->stack, rows, columns);
    return m_source->formatOf(place->whole, wholeRows, wholeColumns);
  }

  compute::HostMatrix get(const std::string& name, std::int64_t rows, std::int64_t columns) const override {
    const Place* const place = find(name);
    if (place == nullptr) return m_source->get(nameOf(name), rows, columns);
    const Stack& stack = *place->stack;
    compute::HostMatrix matrix{nullptr, compute::WeightFormat::MXFP4, rows, columns};
    if (stack.layout == StackLayout::Rows) {
      const compute::HostMatrix whole = wholeOf(*place, rows, columns);
      matrix.format = whole.format;
      matrix.data =
          rows == 1 ? whole.row(place->expert) : whole.row((place->expert * stack.parts + stack.part) * rows);
      return matrix;
    }
    if (stack.layout == StackLayout::Columns) matrix.format = wholeOf(*place, rows, columns).format;
    auto known = m_copies.find(name);
    if (known == m_copies.end()) {
      known = m_copies
                  .emplace(name, stack.layout == StackLayout::Columns ? exchanged(*place, rows, columns)
                                                                      : repacked(*place, rows, columns))
                  .first;
    }
    matrix.data = known->second.data();
    return matrix;
  }

  std::span<const std::byte> bytesOf(const std::string& name, std::size_t count) const override {
    return m_source->bytesOf(nameOf(name), count);
  }
  void requireWhole() const override { m_source->requireWhole(); }
  void requireUnchanged() const override { m_source->requireUnchanged(); }
  std::vector<StoredTensor> stored() const override { return m_stored; }
  std::string fingerprint() const override { return m_source->fingerprint(); }
  std::string name() const override { return m_source->name(); }

 private:
  struct Place {
    std::string whole;  ///< the name of the stack
    const Stack* stack = nullptr;
    std::int64_t expert = 0;
  };

  void add(const StoredTensor& tensor) {
    constexpr std::string_view kLayers = "model.layers.";
    const std::size_t dot = tensor.name.find('.', kLayers.size());
    if (!tensor.name.starts_with(kLayers) || dot == std::string::npos) return m_stored.push_back(tensor);
    const std::string layer = tensor.name.substr(0, dot + 1);
    const std::string_view within = std::string_view(tensor.name).substr(dot + 1);
    for (const auto& [other, usual] : kRenamed) {
      if (within != other) continue;
      m_renamed.emplace(layer + std::string(usual), tensor.name);
      return m_stored.push_back({layer + std::string(usual), tensor.file});
    }
    // The exponents belong to the blocks.
    if (within.starts_with("mlp.experts.") && within.ends_with(kExponents)) return;
    bool isStack = false;
    for (const Stack& stack : kStacks) {
      if (within != stack.stored) continue;
      isStack = true;
      for (std::int32_t expert = 0; expert < countOf(stack); ++expert) {
        const std::string name =
            layer + (stack.isShared ? kShared : expertName(expert)) + std::string(stack.tensor);
        m_places.emplace(name, Place{tensor.name, &stack, expert});
        m_stored.push_back({name, tensor.file});
      }
    }
    if (!isStack) m_stored.push_back(tensor);
  }

  const Place* find(const std::string& name) const {
    const auto found = m_places.find(name);
    return found == m_places.end() ? nullptr : &found->second;
  }
  const std::string& nameOf(const std::string& name) const {
    const auto found = m_renamed.find(name);
    return found == m_renamed.end() ? name : found->second;
  }

  std::int64_t countOf(const Stack& stack) const { return stack.isShared ? 1 : m_experts; }

  /// Returns the rows and columns of a stack as one matrix. A vector has one row.
  std::pair<std::int64_t, std::int64_t> shapeOf(const Stack& stack, std::int64_t rows,
                                                std::int64_t columns) const {
    const std::int64_t experts = countOf(stack);
    if (rows == 1) return {experts, stack.parts * columns};
    if (stack.layout == StackLayout::Columns) return {experts * columns, stack.parts * rows};
    return {experts * stack.parts * rows, columns};
  }
  compute::HostMatrix wholeOf(const Place& place, std::int64_t rows, std::int64_t columns) const {
    const auto [wholeRows, wholeColumns] = shapeOf(*place.stack, rows, columns);
    return m_source->get(place.whole, wholeRows, wholeColumns);
  }

  /// Returns [rows][columns] from [columns][rows][parts].
  std::vector<std::byte> exchanged(const Place& place, std::int64_t rows, std::int64_t columns) const {
    const compute::HostMatrix whole = wholeOf(place, rows, columns);
    const Stack& stack = *place.stack;
    if (compute::infoOf(whole.format).isPacked()) {
      throw Failure({fileOf(*m_source, place.whole), place.whole, compute::nameOf(whole.format),
                     "F32, F16 or BF16 for this arrangement"});
    }
    const std::size_t size = compute::bytesOf(whole.format, 1);
    std::vector<std::byte> out(static_cast<std::size_t>(rows * columns) * size);
    // A vector is in one row of the stack.
    const std::int64_t lines = rows == 1 ? 1 : columns;
    const std::int64_t perLine = rows == 1 ? columns : rows;
    for (std::int64_t line = 0; line < lines; ++line) {
      const std::byte* const from = whole.row(place.expert * lines + line);
      for (std::int64_t i = 0; i < perLine; ++i) {
        const auto to = static_cast<std::size_t>(rows == 1 ? i : i * columns + line);
        std::memcpy(out.data() + to * size,
                    from + static_cast<std::size_t>(i * stack.parts + stack.part) * size, size);
      }
    }
    return out;
  }

  struct Blocks {
    std::span<const std::byte> codes;
    std::span<const std::byte> exponents;
  };
  static constexpr std::int64_t kElements = 32;  ///< of a block
  static constexpr std::size_t kCodeBytes = 16;

  Blocks blocksOf(const Place& place, std::int64_t rows, std::int64_t columns) const {
    if (columns % kElements != 0) {
      throw Failure({fileOf(*m_source, place.whole), place.whole,
                     "rows of " + std::to_string(columns) + " elements", "a multiple of 32"});
    }
    const auto count =
        static_cast<std::size_t>(m_experts * place.stack->parts * rows * (columns / kElements));
    const std::string exponents =
        place.whole.substr(0, place.whole.size() - kBlocks.size()) + std::string(kExponents);
    return {m_source->bytesOf(place.whole, count * kCodeBytes), m_source->bytesOf(exponents, count)};
  }

  /// Returns blocks of GGUF: the exponent, then the codes. Hugging Face has two neighbours in a byte, and
  /// GGUF has two elements half a block apart.
  std::vector<std::byte> repacked(const Place& place, std::int64_t rows, std::int64_t columns) const {
    const Blocks blocks = blocksOf(place, rows, columns);
    const Stack& stack = *place.stack;
    const std::int64_t ofRow = columns / kElements;
    std::vector<std::byte> out(compute::bytesOf(compute::WeightFormat::MXFP4, rows * columns));
    std::byte* to = out.data();
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t storedRow = (place.expert * rows + row) * stack.parts + stack.part;
      for (std::int64_t block = storedRow * ofRow; block < (storedRow + 1) * ofRow; ++block) {
        const auto at = static_cast<std::size_t>(block);
        *to++ = blocks.exponents[at];
        const std::byte* const codes = blocks.codes.data() + at * kCodeBytes;
        const auto codeOf = [codes](std::size_t element) {
          const std::byte both = codes[element / 2];
          return element % 2 == 0 ? both & std::byte{15} : both >> 4;
        };
        for (std::size_t i = 0; i < kCodeBytes; ++i) *to++ = codeOf(i) | codeOf(i + kCodeBytes) << 4;
      }
    }
    return out;
  }

  std::unique_ptr<WeightSource> m_source;
  std::int64_t m_experts = 0;
  std::map<std::string, Place> m_places;         ///< by the name of the expert's tensor
  std::map<std::string, std::string> m_renamed;  ///< from the decoder's name to the file's
  std::vector<StoredTensor> m_stored;
  mutable std::map<std::string, std::vector<std::byte>> m_copies;
};

}  // namespace

std::unique_ptr<WeightSource> splitExperts(std::unique_ptr<WeightSource> source, const ModelConfig& config) {
  return std::make_unique<ExpertWeights>(std::move(source), config);
}

}  // namespace spanscope::model
