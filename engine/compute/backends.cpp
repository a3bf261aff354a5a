// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compute/backends.h"

#include "engine/base/error.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace spanscope::compute {

namespace {

[[noreturn]] void refuse(std::string found, std::string expected) {
  throw Failure({.file = {}, .place = "device", .found = std::move(found), .expected = std::move(expected)});
}

[[noreturn]] void refuse(const Device& device) {
  refuse(device.name + " (" + device.reason + ")", /*id:device-can-used*/ "a device that can be used");
}

/// Returns the device with its free memory, or with the reason why the device cannot be used.
Device opened(const BackendKind& kind, Device device, int index) {
  if (!device.isUsable() || !kind.freeBytes) return device;
  try {
    device.memoryBytes = kind.freeBytes(index);
  } catch (const Failure& failure) {
    const Error& error = failure.error();
    device.reason = error.place.empty() ? error.found : error.place + ": " + error.found;
  }
  return device;
}

}  // namespace

BackendKind absentKind(std::string name, std::string reason) {
  const Device device{.name = name, .description = {}, .memoryBytes = 0, .reason = std::move(reason)};
  return {.name = std::move(name),
          .probe = [device] { return std::vector<Device>{device}; },
          .make = [device](const BackendOptions&) -> std::unique_ptr<Backend> { refuse(device); },
          .meter = [device](const BackendOptions&) -> RateMeter { refuse(device); }};
}

std::string reasonOf(const std::vector<Device>& devices, std::string_view name) {
  if (name == kAutoDevice) {
    const bool isAny = std::ranges::any_of(devices, [](const Device& d) { return d.isUsable(); });
    return isAny ? std::string() : /*id:none-can-used-backends*/ "no device can be used";
  }
  // The name of a device is the name of its kind and a number. The first device comes first.
  for (const Device& device : devices) {
    if (device.name == name || device.name.substr(0, device.name.find(':')) == name) return device.reason;
  }
  // If no device of a kind can be used, the kind has one device that gives the reason.
  for (const Device& device : devices) {
    if (!device.isUsable() && device.name == name.substr(0, name.find(':'))) return device.reason;
  }
  return /*id:none-name*/ "no device has this name";
}

KindEntry::KindEntry(BackendKind kind) : m_state(std::make_shared<State>()) {
  m_state->name = kind.name;
  m_state->open = [kind = std::move(kind)] { return kind; };
}

KindEntry::KindEntry(std::string name, std::function<BackendKind()> open)
    : m_state(std::make_shared<State>()) {
  m_state->name = std::move(name);
  m_state->open = std::move(open);
}

const std::string& KindEntry::name() const {
  return m_state->name;
}

const BackendKind& KindEntry::kind() const {
  std::call_once(m_state->once, [this] { m_state->kind = m_state->open(); });
  return m_state->kind;
}

Backends::Backends(std::vector<KindEntry> kinds) : m_kinds(std::move(kinds)) {}

std::vector<BackendKind> Backends::kinds() const {
  std::vector<BackendKind> kinds;
  for (const KindEntry& entry : m_kinds) kinds.push_back(entry.kind());
  return kinds;
}

std::vector<Device> Backends::devices() const {
  std::vector<Device> all;
  for (const KindEntry& entry : m_kinds) {
    for (Device& device : entry.kind().probe()) all.push_back(std::move(device));
  }
  return all;
}

ChosenDevice Backends::choose(std::string_view name) const {
  std::string names(kAutoDevice);
  for (const KindEntry& entry : m_kinds) {
    const BackendKind& kind = entry.kind();
    const std::vector<Device> devices = kind.probe();
    for (std::size_t i = 0; i < devices.size(); ++i) {
      names += ", " + devices[i].name;
      const bool isNamed = devices[i].name == name || (i == 0 && kind.name == name);
      if (!isNamed && name != kAutoDevice) continue;
      const auto index = static_cast<int>(i);
      const Device device = opened(kind, devices[i], index);
      if (device.isUsable()) return {.kind = kind, .device = device, .index = index};
      if (isNamed) refuse(device);
    }
  }
  if (name == kAutoDevice)
    refuse(/*id:none-can-used*/ "no usable device", /*id:can-compute*/ "a device that can compute");
  refuse("\"" + std::string(name) + "\"", "one of " + names);
}

const DeviceKind* deviceKindOf(std::string_view device) {
  constexpr std::size_t kMostDigits = 3;
  const std::size_t colon = device.find(':');
  const bool hasNumber = colon != std::string_view::npos;
  if (hasNumber) {
    const std::string_view number = device.substr(colon + 1);
    if (number.empty() || number.size() > kMostDigits ||
        number.find_first_not_of("0123456789") != std::string_view::npos)
      return nullptr;
  }
  for (const DeviceKind* kind : kDeviceKinds) {
    if (kind->name == device.substr(0, colon)) return hasNumber && kind->isAlwaysThere ? nullptr : kind;
  }
  return nullptr;
}

}  // namespace spanscope::compute
