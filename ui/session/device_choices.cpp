// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/device_choices.h"

#include "engine/workbench/setting_choices.h"
#include "ui/words/table_words.h"
#include "ui/words/tr.h"

#include <utility>

namespace spanscope::ui {
namespace {

/// The text of a name that is not a usable device: a kind of device, or an unusable device with the reason.
QString otherText(const std::vector<compute::Device>* known, const std::string& name) {
  QString text = QString::fromStdString(name);
  for (const workbench::Choice& choice : workbench::deviceChoices()) {
    if (choice.name == name) text = settingText(choice.label);
  }
  const std::string reason = known == nullptr ? std::string() : compute::reasonOf(*known, name);
  return reason.empty() ? text : tr("%1: cannot be used, %2").arg(text, QString::fromStdString(reason));
}

}  // namespace

std::vector<DeviceChoice> deviceChoices(const std::vector<compute::Device>* known,
                                        const std::string& current) {
  std::vector<DeviceChoice> choices;
  bool hasCurrent = false;
  const auto add = [&](const std::string& name, QString text) {
    hasCurrent = hasCurrent || name == current;
    choices.push_back(
        {.name = QString::fromStdString(name), .text = std::move(text), .isCurrent = name == current});
  };
  // Kinds are offered if the devices are not known. Auto is always offered.
  for (const workbench::Choice& choice : workbench::deviceChoices()) {
    if (choice.name == compute::kAutoDevice || known == nullptr) add(choice.name, settingText(choice.label));
  }
  if (known != nullptr) {
    for (const compute::Device& device : *known) {
      if (device.isUsable()) add(device.name, deviceText(device));
    }
  }
  if (!hasCurrent) add(current, otherText(known, current));
  return choices;
}

QString deviceText(const compute::Device& device) {
  constexpr double kGibi = 1 << 30;
  const QString name = QString::fromStdString(device.name);
  if (!device.isUsable())
    return tr("%1: cannot be used, %2").arg(name, QString::fromStdString(device.reason));
  QString text = tr("%1: %2").arg(name, QString::fromStdString(device.description));
  if (device.memoryBytes > 0)
    text += tr(", %1 GiB").arg(static_cast<double>(device.memoryBytes) / kGibi, 0, 'f', 1);
  return text;
}

void chooseDevice(DocumentModel& model, const QString& name) {
  model.change(tr("Device"),
               [&name](document::Document& document) { document.settings.device = name.toStdString(); });
}

}  // namespace spanscope::ui
