// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/pass_check.h"

#include "engine/base/error.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace spanscope::compute {

namespace {

[[noreturn]] void refuse(const std::string& what, std::int64_t found, const std::string& expected) {
  throw Failure(errorAt("pass, " + what, std::to_string(found), expected));
}

[[noreturn]] void refuse(std::size_t run, const char* what, std::int64_t found, const std::string& expected) {
  throw Failure(
      errorAt("attention, query run " + std::to_string(run) + ", " + what, std::to_string(found), expected));
}

void checkShape(const AttentionShape& shape, const RotaryTable& rotary, const KvShape& store) {
  const bool fits = shape.keyHeads > 0 && shape.queryHeads > 0 && shape.queryHeads % shape.keyHeads == 0 &&
                    shape.keyHeads == store.heads && shape.headSize == store.headSize && shape.headSize > 0;
  if (!fits) {
    throw Failure(errorAt(
        "attention",
        std::to_string(shape.queryHeads) + " query heads, " + std::to_string(shape.keyHeads) +
            " key heads of " + std::to_string(shape.headSize),
        std::to_string(store.heads) + " key heads of " + std::to_string(store.headSize) +
            /*id:kv-store-multiple*/ " as in the KV store; query heads: a multiple of the key heads"));
  }
  if (2 * rotary.inverseFrequencies.size() != static_cast<std::size_t>(shape.headSize)) {
    throw Failure(errorAt("rotary table", std::to_string(rotary.inverseFrequencies.size()) + " frequencies",
                          std::to_string(shape.headSize / 2)));
  }
}

void checkRows(const KvShape& store, const PassInputs& inputs) {
  const std::size_t rows = inputs.tokens.size();
  if (inputs.localIndices.size() != rows || inputs.slots.size() != rows) {
    throw Failure(errorAt("pass", /*id:lists-different-lengths*/ "lists of different lengths",
                          "a token, a position and a slot for each of " + std::to_string(rows) + " rows"));
  }
  const std::int64_t slots = std::int64_t{store.blocks} * store.blockSize;
  for (const std::int64_t slot : inputs.slots) {
    if (slot < 0 || slot >= slots) refuse("slot", slot, "0 to " + std::to_string(slots - 1));
  }
  for (const std::int32_t index : inputs.localIndices) {
    if (index < 0) refuse(/*id:position-in-segment*/ "position in the segment", index, "at least 0");
  }
  for (const auto* list : {&inputs.logitRows, &inputs.hiddenRows}) {
    for (const std::int32_t row : *list) {
      if (row < 0 || static_cast<std::size_t>(row) >= rows)
        refuse(/*id:row-wanted*/ "requested row", row, "less than " + std::to_string(rows));
    }
  }
  for (const Draw& draw : inputs.draws) {
    if (draw.logits < 0 || static_cast<std::size_t>(draw.logits) >= inputs.logitRows.size())
      refuse("draw", draw.logits, "one of " + std::to_string(inputs.logitRows.size()) + " rows of logits");
  }
}

void checkKeys(std::size_t run, const KeyRange& keys, const KvShape& store) {
  const auto slots = static_cast<std::int64_t>(keys.blocks.size()) * store.blockSize;
  if (keys.begin < 0) refuse(run, /*id:begin-key-range*/ "start of a key range", keys.begin, "at least 0");
  if (keys.end < keys.begin)
    refuse(run, /*id:end-key-range*/ "end of a key range", keys.end,
           /*id:least-begin*/ "at least the start of the range, " + std::to_string(keys.begin));
  if (keys.end > slots) refuse(run, "end of a key range", keys.end, "at most " + std::to_string(slots));
  for (const BlockId block : keys.blocks) {
    if (block < 0 || block >= store.blocks)
      refuse(run, "key block", block, "0 to " + std::to_string(store.blocks - 1));
  }
}

void checkRun(std::size_t index, const KvShape& store, const PassInputs& inputs) {
  const QueryRun& run = inputs.runs[index];
  const auto rows = static_cast<std::int64_t>(inputs.tokens.size());
  if (run.firstRow < 0 || run.firstRow >= rows)
    refuse(index, "first row", run.firstRow, "less than " + std::to_string(rows));
  if (run.rowCount < 1 || run.rowCount > rows - run.firstRow)
    refuse(index, "row count", run.rowCount, "1 to " + std::to_string(rows - run.firstRow));
  const auto first = inputs.localIndices.begin() + static_cast<std::ptrdiff_t>(run.firstRow);
  const auto descent = std::is_sorted_until(first, first + run.rowCount);
  if (descent != first + run.rowCount)
    refuse(
        index, "position in the segment", *descent,
        /*id:least-row-before*/ "at least the position in the previous row, " + std::to_string(descent[-1]));
  if (run.mostBlocks < 0 || run.mostBlocks == 1)
    refuse(index, "max blocks", run.mostBlocks, "0 for all, or at least 2");
  for (const KeyRange& keys : run.keys) checkKeys(index, keys, store);
}

}  // namespace

void checkPass(const AttentionShape& shape, const RotaryTable& rotary, const KvShape& store,
               const PassInputs& inputs) {
  checkShape(shape, rotary, store);
  checkRows(store, inputs);
  for (std::size_t run = 0; run < inputs.runs.size(); ++run) checkRun(run, store, inputs);
  for (const std::uint32_t run : inputs.mass.runs) {
    if (run >= inputs.runs.size())
      refuse(/*id:run-whose-mass*/ "index of a query run for attention sums", run,
             "less than " + std::to_string(inputs.runs.size()));
  }
}

namespace {

constexpr std::int32_t kLargestBlock = 1024;

}  // namespace

void checkKvShape(const KvShape& shape) {
  const auto refuse = [](const char* what, std::int64_t found, const char* expected) {
    throw Failure(Error{"", what, std::to_string(found), expected});
  };
  if (shape.layers < 1) refuse("layers of the KV store", shape.layers, "at least 1");
  if (shape.blocks < 1) refuse("blocks of the KV store", shape.blocks, "at least 1");
  if (shape.blockSize < 1 || shape.blockSize > kLargestBlock)
    refuse("block size", shape.blockSize, "1 to 1024");
  if (shape.heads < 1) refuse("heads of the KV store", shape.heads, "at least 1");
  if (shape.headSize < 2 || shape.headSize % 2 != 0) refuse("head size", shape.headSize, "an even number");
  if (!shape.byLayer.empty() && std::cmp_not_equal(shape.byLayer.size(), shape.layers))
    refuse("layers with heads", std::ssize(shape.byLayer), "one for each layer of the KV store");
  for (const KvHeads& layer : shape.byLayer) {
    // The heads of the shape bound the size of the store.
    if (layer.heads < 1 || layer.headSize < 2 || layer.headSize % 2 != 0 ||
        layer.elements() > KvHeads{shape.heads, shape.headSize}.elements())
      refuse("elements of a layer's keys", layer.elements(), "even heads, and at most those of the shape");
  }
  if (shape.type == DType::F16)
    throw Failure(Error{"", "type of the KV store", nameOf(shape.type), "F32 or BF16"});
  // The bytes of keys and values. A device may pad heads a little.
  std::int64_t left = std::numeric_limits<std::int64_t>::max() / 32;
  for (const std::int64_t factor :
       {std::int64_t{shape.layers}, std::int64_t{shape.blocks}, std::int64_t{shape.blockSize},
        std::int64_t{shape.heads}, std::int64_t{shape.headSize}, std::int64_t(sizeOf(shape.type))})
    left /= factor;
  if (left == 0)
    throw Failure(Error{"", "KV store", "a size of 2^63 bytes or more", "a store that fits into memory"});
}

void checkHostBlock(const KvShape& shape, BlockId block, std::int32_t slots, std::size_t bytes) {
  const auto refuse = [](const char* what, std::string found, std::string expected) {
    throw Failure(errorAt(what, std::move(found), std::move(expected)));
  };
  if (block < 0 || block >= shape.blocks) {
    refuse("block", std::to_string(block), "0 to " + std::to_string(shape.blocks - 1));
  }
  if (slots < 0 || slots > shape.blockSize) {
    refuse("slots of a block", std::to_string(slots), "0 to " + std::to_string(shape.blockSize));
  }
  const std::size_t expected = static_cast<std::size_t>(slots) * slotBytes(shape);
  if (bytes != expected) {
    refuse("bytes of a block", std::to_string(bytes), std::to_string(expected));
  }
}

}  // namespace spanscope::compute
