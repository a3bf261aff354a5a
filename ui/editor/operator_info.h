// SPDX-License-Identifier: GPL-3.0-or-later
// What the window calls each operator, and which sign stands for it.
#pragma once

#include "engine/query/query.h"

#include <QPainterPath>
#include <QString>

#include <string>
#include <string_view>

namespace spanscope::ui {

/// By operator key ("user", "g", "plus", …): "user", "generate", "plus", …
QString operatorTitle(std::string_view op);
/// Two words at most: "message", "ask a model", "any order", …
QString operatorHint(std::string_view op);
/// One sentence: what it does.
QString operatorHelp(std::string_view op);
/// What a join or zip promises about the order of its inputs; empty for other operators.
QString operatorPromise(std::string_view op);
/// The sign, to be stroked, in a square of 16 × 16 from the origin.
QPainterPath operatorIcon(std::string_view op);
/// Drawn as a tall pill with numbered inputs.
bool isPill(const query::Node& own);

}  // namespace spanscope::ui
