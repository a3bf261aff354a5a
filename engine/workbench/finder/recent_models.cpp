// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/finder/recent_models.h"

#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/workbench/run_options.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

namespace spanscope::workbench {

RecentModels::RecentModels(std::filesystem::path file) : m_file(std::move(file)) {}

std::vector<std::filesystem::path> RecentModels::list() const {
  std::vector<std::filesystem::path> models = read();
  std::erase_if(models, [](const std::filesystem::path& model) {
    std::error_code error;
    return !std::filesystem::exists(model, error);
  });
  return models;
}

void RecentModels::note(const std::filesystem::path& model) {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::absolute(model, error).lexically_normal();
  if (error || model.empty()) return;
  std::vector<std::filesystem::path> models = read();
  std::erase(models, path);
  models.insert(models.begin(), path);
  models.resize(std::min(models.size(), kMost));
  m_models = models;
  if (m_file.empty()) return;
  nlohmann::json json = nlohmann::json::array();
  for (const std::filesystem::path& each : models) json.push_back(each.string());
  std::filesystem::create_directories(m_file.parent_path(), error);
  static_cast<void>(writeFile(m_file, json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

std::vector<std::filesystem::path> RecentModels::read() const {
  if (m_file.empty()) return m_models;
  constexpr std::uintmax_t kMostBytes = 1U << 16U;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(m_file, error);
  if (error || bytes > kMostBytes) return {};
  std::ifstream file(m_file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  std::vector<std::filesystem::path> models;
  if (!json.is_array()) return models;
  for (const nlohmann::json& each : json) {
    if (models.size() < kMost && each.is_string()) models.emplace_back(each.get<std::string>());
  }
  return models;
}

std::filesystem::path standardRecentModelsFile() {
  try {
    return standardStoreFolder().parent_path() / "recent-models.json";
  } catch (const Failure&) {
    return {};
  }
}

}  // namespace spanscope::workbench
