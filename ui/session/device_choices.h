// SPDX-License-Identifier: GPL-3.0-or-later
// The devices that a document can be run on, as every list of them offers.
#pragma once

#include "engine/compute/backends.h"
#include "ui/document/document_model.h"

#include <QString>

#include <string>
#include <vector>

namespace spanscope::ui {

struct DeviceChoice {
  QString name;            ///< as RunSettings::device has it
  QString text;            ///< with what it is: "cuda:1: NVIDIA H200, compute capability 9.0, 139.7 GiB"
  bool isCurrent = false;  ///< the document runs on it
  bool operator==(const DeviceChoice&) const = default;
};

/// "auto", then every device that can be used, and `current` (RunSettings::device of the document) wherever
/// it is none of them. Where the devices of this machine are not known yet, what documents may name.
std::vector<DeviceChoice> deviceChoices(const std::vector<compute::Device>* known,
                                        const std::string& current);

/// "cpu: AMD EPYC, AVX2, 31.2 GiB", or why it cannot be used.
QString deviceText(const compute::Device& device);

/// Makes it the document's device, in one step that can be undone.
void chooseDevice(document::DocumentModel& model, const QString& name);

}  // namespace spanscope::ui
