// SPDX-License-Identifier: GPL-3.0-or-later
// The devices that can run a document. Every list of devices offers these devices.
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
  bool isCurrent = false;  ///< the document runs on this device
  bool operator==(const DeviceChoice&) const = default;
};

/// Lists "auto", then every usable device. Adds `current` (RunSettings::device of the document) if the list
/// does not have `current`. If `known` is null, the devices of this machine are not known yet. The list then
/// has the kinds of device that a document may name.
std::vector<DeviceChoice> deviceChoices(const std::vector<compute::Device>* known,
                                        const std::string& current);

/// "cpu: AMD EPYC, AVX2, 31.2 GiB", or the reason why the device cannot be used.
QString deviceText(const compute::Device& device);

/// Sets the document's device to the named device, in one undo step.
void chooseDevice(DocumentModel& model, const QString& name);

}  // namespace spanscope::ui
