// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/workbench/speed_records.h"

#include "engine/base/error.h"
#include "engine/base/output_file.h"
#include "engine/workbench/run_options.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace spanscope::workbench {
namespace {

using experiment::SpeedSample;

constexpr std::uintmax_t kMostBytes = 1U << 20U;
constexpr std::size_t kMostPaces = 256;
constexpr std::int64_t kMostPromptTokens = 50'000;  ///< larger numbers are halved
constexpr std::int64_t kMostGeneratedTokens = 2'000;

/// Returns model, device, threads, exactness and arithmetic as a key. Empty: the model has no path, so its
/// speed is not known.
std::string keyOf(const RunSettings& settings) {
  try {
    const RunSettings identity = modelIdentityOf(settings);
    return identity.model + "|" + identity.device + "|" + std::to_string(identity.threads) + "|" +
           (identity.exact ? "exact" : "") +
           (identity.arithmetic == RunSettings().arithmetic ? "" : "|" + identity.arithmetic);
  } catch (const Failure&) {
    return {};
  }
}

bool isSound(std::int64_t tokens, double seconds) {
  return tokens >= 0 && std::isfinite(seconds) && seconds >= 0;
}

void bound(std::int64_t& tokens, double& seconds, std::int64_t most) {
  while (tokens > most) {
    tokens /= 2;
    seconds /= 2;
  }
}

std::optional<SpeedSample> sampleOf(const nlohmann::json& json) {
  if (!json.is_array() || json.size() != 4 || !json[0].is_number_integer() || !json[1].is_number() ||
      !json[2].is_number_integer() || !json[3].is_number())
    return std::nullopt;
  const SpeedSample sample{.promptTokens = json[0].get<std::int64_t>(),
                           .promptSeconds = json[1].get<double>(),
                           .generatedTokens = json[2].get<std::int64_t>(),
                           .generatedSeconds = json[3].get<double>()};
  if (!isSound(sample.promptTokens, sample.promptSeconds) ||
      !isSound(sample.generatedTokens, sample.generatedSeconds))
    return std::nullopt;
  return sample;
}

}  // namespace

SpeedRecords::SpeedRecords(std::filesystem::path file) : m_file(std::move(file)) {}

std::optional<SpeedSample> SpeedRecords::find(const RunSettings& settings) const {
  return findKey(keyOf(settings));
}

std::optional<SpeedSample> SpeedRecords::findServer(const std::string& server) const {
  return findKey("server|" + server);
}

void SpeedRecords::note(const RunSettings& settings, const SpeedSample& sample) {
  noteKey(keyOf(settings), sample);
}

void SpeedRecords::noteServer(const std::string& server, const SpeedSample& sample) {
  noteKey("server|" + server, sample);
}

std::optional<SpeedSample> SpeedRecords::findKey(const std::string& key) const {
  const std::lock_guard lock(m_mutex);
  read(m_paces);
  const auto found = m_paces.find(key);
  return found == m_paces.end() ? std::nullopt : std::optional(found->second);
}

void SpeedRecords::noteKey(const std::string& key, const SpeedSample& sample) {
  if (key.empty() || sample.promptTokens <= 0) return;
  const std::lock_guard lock(m_mutex);
  read(m_paces);
  if (!m_paces.contains(key) && m_paces.size() >= kMostPaces) return;
  SpeedSample& pace = m_paces[key];
  // Old measurements are reduced so that the new one counts for at least half.
  bound(pace.promptTokens, pace.promptSeconds, std::max(sample.promptTokens, kMostPromptTokens / 2));
  bound(pace.generatedTokens, pace.generatedSeconds,
        std::max(sample.generatedTokens, kMostGeneratedTokens / 2));
  pace += sample;
  bound(pace.promptTokens, pace.promptSeconds, kMostPromptTokens);
  bound(pace.generatedTokens, pace.generatedSeconds, kMostGeneratedTokens);
  write();
}

/// The mutex must be locked. Another program may have written the file since the last read.
void SpeedRecords::read(Paces& into) const {
  if (m_file.empty()) return;
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(m_file, error);
  if (error || bytes > kMostBytes) return;
  std::ifstream file(m_file, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    if (into.size() >= kMostPaces && !into.contains(key)) break;
    if (const std::optional<SpeedSample> sample = sampleOf(value)) into[key] = *sample;
  }
}

void SpeedRecords::write() const {
  if (m_file.empty()) return;
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [key, pace] : m_paces)
    json[key] = {pace.promptTokens, pace.promptSeconds, pace.generatedTokens, pace.generatedSeconds};
  std::error_code error;
  std::filesystem::create_directories(m_file.parent_path(), error);
  static_cast<void>(writeFile(m_file, json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

std::filesystem::path standardSpeedFile() {
  try {
    return standardStoreFolder().parent_path() / "paces.json";
  } catch (const Failure&) {
    return {};
  }
}

}  // namespace spanscope::workbench
