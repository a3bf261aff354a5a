// SPDX-License-Identifier: GPL-3.0-or-later
// Says in the undo history what a change of settings was.
#pragma once

#include "engine/workbench/settings.h"

#include <QString>

namespace spanscope::ui {

/// "Reuse policy: spans → prefix" if one setting differs, where long values are cut; "NAME: Checkpoint,
/// Stands for" if several do. The settings must differ.
QString settingChangeText(const QString& name, const workbench::RunSettings& before,
                          const workbench::RunSettings& after);

}  // namespace spanscope::ui
