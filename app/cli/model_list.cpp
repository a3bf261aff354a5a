// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/model_list.h"

#include "app/cli/text_table.h"

#include <nlohmann/json.hpp>

#include <cstdint>

namespace spanscope::cli {
namespace {

using workbench::FoundModel;

constexpr const char* kUnknown = "–";

/// "1.23 GiB", "12.3 MiB".
std::string bytesText(std::uint64_t bytes) {
  constexpr double kMebi = 1 << 20;
  constexpr double kGibi = 1 << 30;
  if (bytes == 0) return kUnknown;
  const auto value = static_cast<double>(bytes);
  return value >= kGibi ? fixed(value / kGibi, 2) + " GiB" : fixed(value / kMebi, 1) + " MiB";
}

/// "Q4_K 169, F32 65".
std::string typesText(const FoundModel& model) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < model.header.types.size(); ++i) {
    if (i == kMost) return text + ", …";
    const auto& [type, tensors] = model.header.types[i];
    text += (text.empty() ? "" : ", ") + type + " " + std::to_string(tensors);
  }
  return text.empty() ? kUnknown : text;
}

std::string orUnknown(const std::string& text) {
  return text.empty() ? kUnknown : text;
}

nlohmann::ordered_json orNull(const std::string& text) {
  return text.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(text);
}

nlohmann::ordered_json orNull(std::uint64_t count) {
  return count == 0 ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(count);
}

}  // namespace

std::string modelTable(const std::vector<FoundModel>& models) {
  TextTable table({{"model", TextTable::Align::Left},
                   {"from", TextTable::Align::Left},
                   {"family", TextTable::Align::Left},
                   {"parameters"},
                   {"tensors by type", TextTable::Align::Left},
                   {"context"},
                   {"template", TextTable::Align::Left},
                   {"file"},
                   {"memory"},
                   {"moves spans", TextTable::Align::Left},
                   {"path, or why it cannot run", TextTable::Align::Left}});
  for (const FoundModel& model : models) {
    const workbench::ModelHeader& header = model.header;
    const std::optional<bool> moves = model.movesSpans();
    table.addRow({model.place.name, workbench::keeperName(model.place.keeper), orUnknown(header.family),
                  header.parameters > 0 ? shortNumber(static_cast<double>(header.parameters)) : kUnknown,
                  typesText(model), header.context > 0 ? std::to_string(header.context) : kUnknown,
                  orUnknown(header.chatTemplate), bytesText(header.bytes), bytesText(model.memory),
                  !moves   ? kUnknown
                  : *moves ? "yes"
                           : "no",
                  model.canRun() ? model.place.path.string() : header.problem});
  }
  return table.text();
}

nlohmann::ordered_json modelListJson(const std::vector<FoundModel>& models) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FoundModel& model : models) {
    const workbench::ModelHeader& header = model.header;
    nlohmann::ordered_json types = nlohmann::ordered_json::object();
    for (const auto& [type, tensors] : header.types) types[type] = tensors;
    const std::optional<bool> moves = model.movesSpans();
    list.push_back({{"name", model.place.name},
                    {"source", workbench::keeperKey(model.place.keeper)},
                    {"path", orNull(model.place.path.string())},
                    {"architecture", orNull(header.family)},
                    {"parameters", orNull(static_cast<std::uint64_t>(header.parameters))},
                    {"tensors_by_type", std::move(types)},
                    {"context", orNull(static_cast<std::uint64_t>(header.context))},
                    {"chat_template", orNull(header.chatTemplate)},
                    {"file_bytes", orNull(header.bytes)},
                    {"memory_bytes", orNull(model.memory)},
                    {"moves_spans", moves ? nlohmann::ordered_json(*moves) : nlohmann::ordered_json(nullptr)},
                    {"problem", orNull(header.problem)}});
  }
  return list;
}

}  // namespace spanscope::cli
