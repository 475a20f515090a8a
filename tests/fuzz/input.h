// The bytes of a fuzzer as a row of choices.  Behind the last byte every choice is the first.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>

class Input {
  public:
    Input(const std::uint8_t *data, size_t size) : data_(data), left_(size) {}

    bool ended() const { return left_ == 0; }

    template <class T>
    T raw() {
        T value{};
        const size_t taken = left_ < sizeof value ? left_ : sizeof value;
        if (taken > 0) std::memcpy(&value, data_, taken);
        data_ += taken;
        left_ -= taken;
        return value;
    }

    std::int64_t below(std::int64_t bound) {
        const std::int64_t value = bound > 256 ? raw<std::uint16_t>() : raw<std::uint8_t>();
        return value % bound;
    }

    template <class T>
    T of(std::initializer_list<T> list) {
        return list.begin()[below(static_cast<std::int64_t>(list.size()))];
    }

    /// Seldom: where few bytes are left, never.
    bool one_in(std::int64_t n) { return below(n) == n - 1; }

  private:
    const std::uint8_t *data_;
    size_t left_;
};
