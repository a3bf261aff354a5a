// SPDX-License-Identifier: GPL-3.0-or-later
// The devices on which a document can be run. Every list of devices offers these.
#pragma once

#include "engine/compute/backends.h"
#include "ui/document/document_model.h"

#include <QString>

#include <string>
#include <vector>

namespace spanscope::ui {

struct DeviceChoice {
  QString name;            ///< as written in RunSettings::device
  QString text;            ///< name and description: "cuda:1: NVIDIA H200, compute capability 9.0, 139.7 GiB"
  bool isCurrent = false;  ///< the document runs on it
  bool operator==(const DeviceChoice&) const = default;
};

/// Lists "auto", then every device that can be used, then `current` (RunSettings::device of the document) if
/// it is not among them. While the devices of this machine are not known (`known` is null), it lists the
/// kinds of device that a document may name instead.
std::vector<DeviceChoice> deviceChoices(const std::vector<compute::Device>* known,
                                        const std::string& current);

/// "cpu: AMD EPYC, AVX2, 31.2 GiB", or why the device cannot be used.
QString deviceText(const compute::Device& device);

/// Makes the named device the document's device, in one undo step.
void chooseDevice(DocumentModel& model, const QString& name);

}  // namespace spanscope::ui
