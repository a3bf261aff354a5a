// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/settings/setting_hints.h"

#include "engine/compute/backends.h"
#include "engine/policy/policies.h"
#include "engine/workbench/setting_choices.h"
#include "ui/session/device_choices.h"
#include "ui/words/tr.h"

#include <QLocale>
#include <QStringList>

#include <array>
#include <cstdint>
#include <optional>
#include <utility>

namespace spanscope::ui {
namespace {

using workbench::RunSettings;

QString exactness(const HintInput& input) {
  const RunSettings& settings = input.settings;
  const std::optional<policy::Choice> policy = policy::findChoice(settings.policy);
  const compute::DeviceKind* kind = compute::deviceKindOf(settings.device);
  const bool isEqual =
      settings.exact || settings.device == compute::kAutoDevice || (kind != nullptr && kind->rowsAreBitEqual);
  const layout::Layout layout = workbench::layoutOf(settings.layout);
  return policy ? QString::fromStdString(layout::exactnessOver(policy::exactnessOn(*policy, isEqual), layout))
                : QString();
}

QString devicesThere(const HintInput& input) {
  if (input.devices == nullptr) return {};
  QStringList lines;
  for (const compute::Device& device : *input.devices) lines.append(deviceText(device));
  return lines.join(QLatin1Char('\n'));
}

QString capacity(const HintInput& input) {
  const RunSettings& settings = input.settings;
  const std::int64_t tokens = std::int64_t{settings.blockCount - 1} * settings.blockSize;
  return tr("Room for %1 tokens; one block is never handed out")
      .arg(QLocale::c().toString(qlonglong(tokens)));
}

QString overlapThatCounts(const HintInput& input) {
  const RunSettings& settings = input.settings;
  const int most = settings.chunk / 4;
  return settings.overlap > most ? tr("A quarter of the chunk counts: %1 tokens").arg(most) : QString();
}

QString whatIsSent(const HintInput& input) {
  const RunSettings& settings = input.settings;
  if (!settings.asksServer()) return {};
  return settings.embeddingsUrl.empty() || settings.embeddingsModel.empty()
             ? tr("A run that ranks by vectors needs the address and the name of a model.")
             : tr("Texts of documents and questions are sent there, with the key in "
                  "SPANSCOPE_EMBEDDINGS_KEY if there is one.");
}

constexpr std::array<std::pair<std::string_view, SettingHint>, 5> kHints = {
    {{"policy", exactness},
     {"device", devicesThere},
     {"blocks", capacity},
     {"overlap", overlapThatCounts},
     {"embeddings_model", whatIsSent}}};

}  // namespace

SettingHint hintOf(std::string_view key) {
  for (const auto& [owner, hint] : kHints) {
    if (owner == key) return hint;
  }
  return nullptr;
}

}  // namespace spanscope::ui
