// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/views/common/twenty_documents.h"

#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "tests/ui/views/common/traced_requests.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace spanscope::test {
namespace {

constexpr std::int32_t kBlock = 16;
constexpr std::int32_t kLayers = 4;
constexpr std::int32_t kHeads = 3;
constexpr std::int32_t kQuestion = 12;
constexpr std::uint32_t kOwn = kTwentyDocuments + 1;

std::string queryJson() {
  std::string documents;
  for (std::size_t i = 0; i < kTwentyDocuments; ++i) {
    if (i > 0) documents += ",";
    documents += R"({"user":"Report )" + std::to_string(i + 1) + R"( of the harbour."})";
  }
  return R"({"g":{"model":"spanlet","input":{"cross":[{"system":"Answer from the documents."},{"plus":[)" +
         documents + R"(]},{"user":"Who keeps the lamp?"}]},"max_tokens":24}})";
}

std::vector<trace::SegmentInfo> segments() {
  std::vector<trace::SegmentInfo> result;
  std::int64_t base = 0;
  const auto add = [&](std::int32_t tokens, const NodePath& node) -> trace::SegmentInfo& {
    result.push_back(TraceMaker::segment(tokens, base, node));
    base += tokens;
    return result.back();
  };
  add(13, "/g/input/cross/0");
  for (std::size_t i = 0; i < kTwentyDocuments; ++i) {
    trace::SegmentInfo& document =
        add(150 + static_cast<std::int32_t>(i * 37 % 60), "/g/input/cross/1/plus/" + std::to_string(i));
    document.independent = true;
    document.depth = 1;
    document.scope = static_cast<std::uint32_t>(i + 1);
  }
  trace::SegmentInfo& question = add(kQuestion, "/g/input/cross/2");
  for (std::uint32_t segment = 0; segment < kOwn; ++segment) question.sees.push_back(segment);
  return result;
}

/// 0 … 1, the same on every machine.
float noise(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  std::uint32_t value = a * 2654435761U + b * 40503U + c * 2246822519U + 12345U;
  value ^= value >> 15;
  value *= 2246822519U;
  value ^= value >> 13;
  return static_cast<float>(value % 1000) / 1000.0F;
}

/// What one head of one row reads, as weights that do not sum to one yet: beside first tokens, and on them.
struct Weights {
  std::vector<float> rest = std::vector<float>(kOwn + 1, 0.0F);
  std::vector<float> first = std::vector<float>(kOwn + 1, 0.0F);
};

Weights weightsOf(std::int32_t layer, std::int32_t head, std::int32_t token) {
  Weights weights;
  const auto mixed = static_cast<std::uint32_t>(token * 97 + layer * 31 + head * 7);
  weights.first[0] = 8;
  weights.rest[0] = 0.3F;
  weights.rest[kOwn] = 5;
  for (std::uint32_t segment = 1; segment < kOwn; ++segment) {
    weights.first[segment] = 0.25F;
    weights.rest[segment] = 0.1F + 0.2F * noise(segment, mixed, 1);
  }
  const bool finds = layer == kFindingLayer && head == kFindingHead;
  const std::uint32_t needed = token < 14 ? kFirstNeeded : kSecondNeeded;
  weights.rest[needed] += finds ? 25.0F : 1.0F;
  return weights;
}

std::vector<float> byBlock(const std::vector<float>& mass, const std::vector<trace::SegmentInfo>& table,
                           std::int32_t token, std::vector<std::int32_t>& counts) {
  std::vector<float> result;
  for (std::uint32_t segment = 0; segment <= kOwn; ++segment) {
    const auto tokens =
        static_cast<std::int32_t>(table[segment].tokens.size()) + (segment == kOwn ? token : 0);
    const std::int32_t blocks = (tokens + kBlock - 1) / kBlock;
    counts.push_back(blocks);
    std::vector<float> parts;
    float sum = 0;
    for (std::int32_t block = 0; block < blocks; ++block) {
      parts.push_back(0.2F + noise(segment, static_cast<std::uint32_t>(block), 7) +
                      (block == 0 && segment == 0 ? 5.0F : 0.0F));
      sum += parts.back();
    }
    for (const float part : parts) result.push_back(mass[segment] * part / sum);
  }
  return result;
}

void sendToken(TraceMaker& maker, const std::vector<trace::SegmentInfo>& table, std::int32_t token,
               const TwentyOptions& options) {
  trace::SegmentAttention by;
  by.index = token;
  by.segment = kOwn;
  by.row = kQuestion - 1 + token;
  by.virtualIndex = by.row / kBlock;
  by.rows = 1;
  by.heads = kHeads;
  for (std::uint32_t segment = 0; segment <= kOwn; ++segment) by.keySegments.push_back(segment);
  std::vector<float> mean(kOwn + 1, 0.0F);
  for (std::int32_t layer = 0; layer < kLayers; ++layer) {
    by.layers.push_back(layer);
    for (std::int32_t head = 0; head < kHeads; ++head) {
      const Weights weights = weightsOf(layer, head, token);
      float sum = 0;
      for (std::uint32_t segment = 0; segment <= kOwn; ++segment)
        sum += weights.rest[segment] + weights.first[segment];
      for (std::uint32_t segment = 0; segment <= kOwn; ++segment) {
        by.mass.push_back((weights.rest[segment] + weights.first[segment]) / sum);
        by.first.push_back(weights.first[segment] / sum);
        mean[segment] += by.mass.back() / static_cast<float>(kLayers * kHeads);
      }
    }
  }
  trace::AttentionMass blocks;
  blocks.layer = -1;
  blocks.segment = kOwn;
  blocks.virtualIndex = by.virtualIndex;
  blocks.row = by.row;
  blocks.rows = 1;
  blocks.heads = 1;
  blocks.keySegments = by.keySegments;
  blocks.keySpan = kBlock;
  blocks.mass = byBlock(mean, table, token, blocks.keyBlocks);
  if (options.bySegment) maker.send(1, 1, std::move(by));
  if (options.byBlock) maker.send(1, 1, std::move(blocks));
  trace::TokenGenerated generated;
  generated.index = token;
  generated.token = 500 + token;
  generated.shown = " word" + std::to_string(token + 1);
  generated.text = generated.shown;
  generated.probability = 0.5F;
  generated.segmentMass = mean;
  maker.send(1, 1, std::move(generated));
}

}  // namespace

ui::ViewInput twentyDocuments(const TwentyOptions& options, ui::Scheme scheme) {
  TraceMaker maker(kBlock, 512, options.windows);
  const std::vector<trace::SegmentInfo> table = segments();
  maker.startRun(1, 1, table, queryJson());
  for (std::int32_t token = 0; token < kTwentyAnswerTokens; ++token) sendToken(maker, table, token, options);
  maker.finish(1, 1);
  ui::ViewInput input = maker.input();
  const document::Document document = document::fromQuery(*query::parseJson(queryJson()).query);
  input.paths[1] = document::toQuery(document, document::TakeOut::MutedAndFrozen).paths;
  input.document = std::make_shared<const document::Document>(document);
  input.theme = ui::Theme(scheme);
  return input;
}

}  // namespace spanscope::test
