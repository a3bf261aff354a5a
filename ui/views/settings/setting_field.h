// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the field of one setting from the setting's description.
#pragma once

#include "engine/workbench/settings.h"
#include "ui/theme/theme.h"

#include <QString>

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

class QWidget;

namespace spanscope::ui {

class SettingsRows;

struct SettingField {
  const workbench::Setting* setting = nullptr;
  QWidget* widget = nullptr;  ///< the owner of the rows owns it
  std::function<void(const workbench::RunSettings&, const Theme&)> show;
};

/// Makes a spin box for a number, a combo box for names, a check box for a flag, and a line edit for a text,
/// a seed or a list. What a person enters changes the document through `rows`, which must live as long as the
/// field.
SettingField makeSettingField(const workbench::Setting& setting, SettingsRows& rows);

/// "all", or the layers separated by commas.
QString layersText(const std::vector<std::int32_t>& layers);
/// Reads the layers from such a text. Returns nothing if it is none.
std::optional<std::vector<std::int32_t>> readLayers(const QString& text);

}  // namespace spanscope::ui
