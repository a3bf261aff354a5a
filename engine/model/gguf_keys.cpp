// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/model/gguf_keys.h"

#include "engine/base/counted.h"
#include "engine/model/config_limits.h"

#include <cmath>

namespace spanscope::model {

Failure GgufKeys::fail(const std::string& key, std::string found, std::string expected) const {
  return Failure({metadata().file(), name(key), std::move(found), std::move(expected)});
}

std::int64_t GgufKeys::integer(const std::string& key, std::int64_t most,
                               std::optional<std::int64_t> otherwise) const {
  const std::int64_t* value = metadata().integer(name(key));
  if (value == nullptr) {
    if (otherwise) return *otherwise;
    throw fail(key, "nothing", "a whole number from 1 to " + std::to_string(most));
  }
  if (*value < 1 || *value > most) throw fail(key, std::to_string(*value), "1 to " + std::to_string(most));
  return *value;
}

std::int32_t GgufKeys::window() const {
  constexpr const char* kKey = "attention.sliding_window";
  const std::int64_t* value = metadata().integer(name(kKey));
  if (value == nullptr) return 0;
  if (*value < 0 || *value > kMaxPositions)
    throw fail(kKey, std::to_string(*value), "0 to " + std::to_string(kMaxPositions));
  return narrow(*value);
}

double GgufKeys::number(const std::string& key, double least, double most, double otherwise) const {
  const double* value = metadata().number(name(key));
  if (value == nullptr) return otherwise;
  if (!std::isfinite(*value) || *value < least || *value > most) {
    throw fail(key, std::to_string(*value), std::to_string(least) + " to " + std::to_string(most));
  }
  return *value;
}

std::vector<float> GgufKeys::factors(const std::string& tensor, std::int64_t count) const {
  const auto found = m_file.tensors().find(tensor);
  if (found == m_file.tensors().end()) return {};
  const checkpoint::GgufTensor& stored = found->second.tensor;
  const auto failure = [&](std::string what, std::string expected) {
    return Failure({found->second.file, tensor, std::move(what), std::move(expected)});
  };
  if (stored.format == nullptr || stored.format->format != compute::WeightFormat::F32)
    throw failure("type " + stored.typeName(), "F32");
  if (stored.elements() != count) {
    throw failure(counted(stored.elements(), "factor"),
                  std::to_string(count) + ", one for each pair of a head that is turned");
  }
  std::vector<float> values(static_cast<std::size_t>(count));
  compute::widen(compute::WeightFormat::F32, stored.data.data(), count, values.data());
  m_file.requireWhole();
  for (const float value : values) {
    if (!std::isfinite(value) || value <= 0) throw failure(std::to_string(value), "finite numbers above 0");
  }
  return values;
}

}  // namespace spanscope::model
